import Dispatch
import Glibc
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability
import Testing

/// Managers without listeners as programs written for Alamofire 5 expect them. Uses only the public interface.
@Suite struct AlamofireManagerTests {
    @Test func `a manager can be created for a host, an address or no target`() async throws {
        let network = try await AlamofireNetwork()
        let managers = try await network.make {
            var ipv4 = sockaddr_in()
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_addr.s_addr = inet_addr("203.0.113.9")
            var storage = sockaddr_storage()
            storage.ss_family = sa_family_t(AF_INET6)
            return [
                NetworkReachabilityManager(), NetworkReachabilityManager(host: "localhost"),
                NetworkReachabilityManager(host: "203.0.113.9"), NetworkReachabilityManager(address: ipv4),
                NetworkReachabilityManager(address: storage), NetworkReachabilityManager(address: sockaddr_in6()),
            ]
        }
        for manager in managers {
            let manager = try #require(manager)
            #expect(manager.status == .reachable(.ethernetOrWiFi))
            #expect(manager.isReachable)
            #expect(manager.isReachableOnEthernetOrWiFi)
            #expect(!manager.isReachableOnCellular)
            #expect(manager.flags?.contains(.reachable) == true)
        }
    }

    @Test func `no manager can be created for an invalid host or address`() {
        for host in ["", "https://example.org", "example.org:443", "[::1]", "a b"] {
            #expect(NetworkReachabilityManager(host: host) == nil)
        }
        var other = sockaddr_storage()
        other.ss_family = sa_family_t(AF_UNIX)
        #expect(NetworkReachabilityManager(address: other) == nil)
    }

    @Test func `the status is current without a listener`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try #require(try await network.make { NetworkReachabilityManager() })
        for _ in 0..<3 {
            #expect(manager.status == .reachable(.ethernetOrWiFi))
            try await network.setConnected(false)
            #expect(manager.status == .notReachable)
            #expect(!manager.isReachable)
            #expect(!manager.isReachableOnEthernetOrWiFi)
            #expect(manager.flags?.contains(.reachable) == false)
            try await network.setConnected(true)
        }
    }

    @Test func `0.0.0.0 and :: select general reachability`() async throws {
        let network = try await AlamofireNetwork(isConnected: false)
        let managers = try await network.make {
            var zero = sockaddr_in()
            zero.sin_family = sa_family_t(AF_INET)
            return [
                NetworkReachabilityManager(address: zero), NetworkReachabilityManager(host: "0.0.0.0"),
                NetworkReachabilityManager(host: "::"),
            ].compactMap(\.self)
        }
        #expect(managers.map(\.status) == [.notReachable, .notReachable, .notReachable])
        try await network.setConnected(true)
        #expect(managers.allSatisfy { $0.status == .reachable(.ethernetOrWiFi) })
    }

    @Test func `the default manager is shared`() throws {
        let manager = try #require(NetworkReachabilityManager.default)
        #expect(manager === NetworkReachabilityManager.default)
    }
}

/// A separate network for programs written for Alamofire. Managers created inside it need no options.
struct AlamofireNetwork {
    let uplink: Uplink

    init(isConnected: Bool = true) async throws {
        uplink = try await Uplink.make(isConnected: isConnected)
    }

    /// Runs `body` as in a process that is inside the network.
    func make<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await uplink.namespace.asProcess(body)
    }

    func setConnected(_ isConnected: Bool) async throws {
        try await uplink.setConnected(isConnected)
    }
}

extension LabNamespace {
    /// Runs the body as if the process were inside the namespace. The thread is not inside. A manager wakes Dispatch,
    /// and a thread that Dispatch starts for it would inherit the namespace of the manager's thread and keep it for all
    /// later work.
    func asProcess<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let reference = NamespaceReference(path: path)
        return try await LabThread.detached { try NetworkNamespace.$standIn.withValue(reference, operation: body) }
    }
}

/// Records the statuses that a listener receives.
final class AlamofireRecorder: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private let recorded: Locked<[Status]> = Locked([])

    var statuses: [Status] { recorded.withLock { $0 } }

    func record(_ status: Status) {
        recorded.withLock { $0.append(status) }
    }

    /// Waits until this status is the last received one. Returns true if it is.
    func isLast(_ status: Status) async throws -> Bool {
        try await eventually(every: .milliseconds(2)) { statuses.last == status }
    }

    /// Waits until at least `count` statuses have been received, and returns all.
    func statuses(atLeast count: Int) async throws -> [Status] {
        _ = try await eventually(every: .milliseconds(2)) { statuses.count >= count }
        return statuses
    }
}
