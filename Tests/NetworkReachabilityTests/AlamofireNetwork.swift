import Dispatch
import LinuxPrimitives
import NetworkLab
import NetworkReachability

/// A network of our own for programs written for Alamofire: managers made inside it need no options.
struct AlamofireNetwork {
    let uplink: Uplink

    init(isConnected: Bool = true) async throws {
        uplink = try await Uplink.make(isConnected: isConnected)
    }

    /// Makes something on a thread inside the network.
    func make<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await uplink.namespace.perform(body)
    }

    func setConnected(_ isConnected: Bool) async throws {
        try await uplink.setConnected(isConnected)
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
        try await eventually(within: .seconds(90), every: .milliseconds(2)) { statuses.last == status }
    }

    /// Waits until so many statuses have been told, and returns all.
    func statuses(atLeast count: Int) async throws -> [Status] {
        _ = try await eventually(within: .seconds(90), every: .milliseconds(2)) { statuses.count >= count }
        return statuses
    }
}
