import Dispatch
import NetworkReachability
import NetworkReachabilityTesting

/// A queue, and what is heard on it of many hosts.
struct ChangeRecorder: Sendable {
    let queue = DispatchQueue(label: "ChangeRecorder")
    let heard = RecordingListener<NetworkReachabilityChange>()

    @Sendable func record(_ change: NetworkReachabilityChange) {
        heard.record(change)
    }

    /// Forgets what was heard, that included which is being told at this moment.
    func forget() {
        queue.sync {}
        heard.removeAll()
    }

    /// What was heard of each host, once all that is under way on the queue has been delivered.
    var histories: [String: [NetworkReachabilityStatus]] {
        queue.sync {}
        return Dictionary(grouping: heard.values, by: \.host).mapValues { $0.map(\.status) }
    }

    /// What was heard last of each host.
    var latest: [String: NetworkReachabilityStatus] { histories.compactMapValues(\.last) }

    /// Everything heard, as `host: status`, in its order.
    var lines: [String] {
        queue.sync {}
        return heard.values.map { "\($0.host): \($0.status)" }
    }
}

extension NetworkReachabilityMonitor {
    /// Adds a listener of the status that is heard on the recorder's queue.
    func listen(_ recorder: ChangeRecorder) -> NetworkReachabilityToken {
        addListener(onQueue: recorder.queue, recorder.record)
    }

    /// What each host's state is now, asked of the kernel.
    var asked: [String: NetworkReachabilityStatus] {
        hosts.reduce(into: [:]) { $0[$1] = path(to: $1)?.status }
    }
}
