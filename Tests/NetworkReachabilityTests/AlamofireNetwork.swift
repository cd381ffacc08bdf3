import Dispatch
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability

/// A network of our own for programs written for Alamofire: managers made inside it need no options.
struct AlamofireNetwork {
    let uplink: Uplink

    init(isConnected: Bool = true) async throws {
        uplink = try await Uplink.make(isConnected: isConnected)
    }

    /// Makes something as in a process that is inside the network.
    func make<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await uplink.namespace.asProcess(body)
    }

    func setConnected(_ isConnected: Bool) async throws {
        try await uplink.setConnected(isConnected)
    }
}

extension LabNamespace {
    /// Runs the body as if the process were inside the namespace. The thread is not: managers wake Dispatch, and a thread that is
    /// started for them would be where theirs is, and stay there to run whatever comes.
    func asProcess<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let reference = NamespaceReference(path: path)
        return try await LabThread.detached { try NetworkNamespace.$standIn.withValue(reference, operation: body) }
    }
}

/// Writes down what a listener is told.
final class AlamofireRecorder: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private let recorded: Locked<[Status]> = Locked([])

    var statuses: [Status] { recorded.withLock { $0 } }

    func record(_ status: Status) {
        recorded.withLock { $0.append(status) }
    }

    /// Waits until this status is the last that was told, and says whether it came to that.
    func isLast(_ status: Status) async throws -> Bool {
        try await eventually(every: .milliseconds(2)) { statuses.last == status }
    }

    /// Waits until so many statuses have been told, and returns all.
    func statuses(atLeast count: Int) async throws -> [Status] {
        _ = try await eventually(every: .milliseconds(2)) { statuses.count >= count }
        return statuses
    }
}
