import Dispatch
import NetworkReachability
import NetworkReachabilityTesting

/// A queue, and what is heard on it.
struct Listener: Sendable {
    let queue: DispatchQueue
    let heard = RecordingListener<NetworkReachabilityStatus>()
    /// How often a call came on another queue than this.
    let misplaced = RecordingListener<Void>()
    private static let key = DispatchSpecificKey<UInt64>()
    private let mark = UInt64.random(in: 1 ... .max)

    init(_ label: String = "Listener") {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: Listener.key, value: mark)
    }

    @Sendable func record(_ status: NetworkReachabilityStatus) {
        if DispatchQueue.getSpecific(key: Listener.key) != mark { misplaced.record(()) }
        heard.record(status)
    }

    /// Everything heard, once all that is under way on the queue has been delivered.
    var values: [NetworkReachabilityStatus] {
        queue.sync {}
        return heard.values
    }
}

extension NetworkReachabilityStatus {
    static let wired = NetworkReachabilityStatus.reachable(.ethernetOrWiFi)
}

extension Change {
    /// Takes reachability away, in one step, and gives it back.
    static let lose = Change.removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))
    static let regain = Change.addRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))
    /// An uplink whose only default route these are about.
    static let ipv4Uplink: [Change] = [.add("c0"), .address("10.1.0.2/24", on: "c0"), regain]
}
