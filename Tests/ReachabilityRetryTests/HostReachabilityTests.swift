import KernelLab
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityRetry
import Testing

/// Verdicts, and their conversion from network paths.
@Suite struct HostReachabilityTests {
    @Test(arguments: [
        HostReachability(status: .reachable, generation: 7): "reachable",
        .unknown: "unknown",
        HostReachability(status: .notReachable, reason: .nameNotResolved): "not reachable, name not resolved",
        HostReachability(status: .notReachable, reason: .init(rawValue: "lost", words: "the ferry is gone")):
            "not reachable, the ferry is gone",
        HostReachability(status: .unknown, reason: .init(rawValue: "lost")): "unknown, lost",
    ])
    func `the description contains the status and the reason`(reachability: HostReachability, text: String) {
        #expect(reachability.description == text)
    }

    @Test func `reasons are compared by name`() {
        #expect(HostReachability.Reason(rawValue: "nameNotResolved") == .nameNotResolved)
        #expect(Set([HostReachability.Reason.nameNotResolved, .init(rawValue: "nameNotResolved")]).count == 1)
    }

    @Test func `a reachability keeps the name and the text of the path's reason`() throws {
        let kernel = FakeKernel()
        let manager = try NetworkReachabilityManager(address: try #require(IPAddress("198.51.100.1")), kernel: kernel)
        let reachability = HostReachability(manager.path)
        #expect(reachability.status == .notReachable && reachability.generation == manager.path.generation)
        #expect(reachability.reason?.rawValue == manager.path.reason?.rawValue && reachability.reason != nil)
        #expect(reachability.reason?.description == manager.path.reason?.description)
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        #expect(HostReachability(manager.path).status == .reachable && HostReachability(manager.path).reason == nil)
    }
}
