import NetworkDiagnostics
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Links that keep their carrier whatever happens below them. No other kernel than the fake one has all of them here.
@Suite struct LowerLinkTests {
    private let kernel = FakeKernel()

    /// A default route through `name`, and what is said of it.
    private func manager(through name: String) throws -> NetworkReachabilityManager {
        kernel.addAddress("10.0.0.2/24", to: name)
        kernel.addRoute("default", via: "10.0.0.1")
        return try NetworkReachabilityManager(kernel: kernel)
    }

    @Test(arguments: [FakeKernel.LinkKind.looseVLAN, .rmnet])
    func `a lower link that is down or without carrier stands in the way`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("low0")
        kernel.addLink("top0", kind: kind, over: "low0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setUp("low0", false)
        #expect(manager.path.reason == .linkDown)
        try expectBlame(manager, "low0 is down: set it up with `ip link set low0 up`")
        kernel.setUp("low0")
        kernel.setCarrier("low0", false)
        #expect(manager.path.reason == .noCarrier)
        try expectBlame(manager, "low0 has no carrier")
        kernel.setCarrier("low0", true)
        #expect(manager.path.reason == nil)
    }

    @Test func `so does one further below`() throws {
        kernel.addLink("low0")
        kernel.addLink("mid0", kind: .looseVLAN, over: "low0")
        kernel.addLink("top0", kind: .looseVLAN, over: "mid0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setUp("low0", false)
        #expect(manager.path.reason == .linkDown)
        try expectBlame(manager, "low0 is down")
    }

    @Test func `a mesh without a port that has a carrier leads nowhere`() throws {
        kernel.addLink("bat0", kind: .mesh)
        let manager = try manager(through: "bat0")
        #expect(manager.path.reason == .noCarrier)
        kernel.addLink("wlan0", kind: .wiFi, portOf: "bat0")
        #expect(manager.path.reason == nil)
        #expect(manager.path.interface?.description == "bat0/wlan0")
        kernel.setCarrier("wlan0", false)
        #expect(manager.path.reason == .noCarrier)
        try expectBlame(manager, "wlan0 has no carrier")
    }

    @Test func `a bridge that never had a port leads nowhere`() throws {
        kernel.addLink("br0", kind: .bridge)
        let manager = try manager(through: "br0")
        #expect(manager.path.reason == .noCarrier)
        kernel.addLink("eth1", portOf: "br0")
        #expect(manager.path.reason == nil)
    }

    @Test func `a default route to the loopback device leads nowhere, a local one is meant`() throws {
        kernel.addLink("eth1")
        kernel.addAddress("10.0.0.2/24", to: "eth1")
        kernel.addRoute("default", on: "lo")
        #expect(try NetworkReachabilityManager(host: "203.0.113.9", kernel: kernel).path.reason == .discarded)
        for host in ["10.0.0.2", "127.0.0.1", "::1", "10.0.0.9"] {
            #expect(try NetworkReachabilityManager(host: host, kernel: kernel).path.reason == nil, "\(host)")
        }
    }

    @Test func `a default route to a VRF is as good as the VRF's own routes`() throws {
        kernel.addLink("red", kind: .vrf(table: 10))
        kernel.addLink("eth1", portOf: "red")
        kernel.addAddress("10.9.0.2/24", to: "eth1")
        kernel.addAddress("10.8.0.2/32", to: "red")
        kernel.addRoute("default", on: "red")
        let manager = try NetworkReachabilityManager(kernel: kernel)
        #expect(manager.path.reason == .noRoute)
        kernel.addRoute("default", via: "10.9.0.1", on: "eth1", table: 10)
        #expect(manager.path.reason == nil)
        kernel.setCarrier("eth1", false)
        #expect(manager.path.reason == .noCarrier)
        kernel.setCarrier("eth1", true)
        kernel.removeRoute("default", table: 10)
        #expect(manager.path.reason == .noRoute)
    }

    @Test func `a default route through a dummy leads nowhere, a narrower one is meant`() throws {
        kernel.addLink("dummy0", kind: .dummy)
        let manager = try manager(through: "dummy0")
        #expect(manager.path.reason == .discarded)
        try expectBlame(manager, "give the default route another interface than dummy0")
        kernel.addRoute("198.51.100.0/24", via: "10.0.0.1")
        for (host, reason) in [
            ("198.51.100.7", nil), ("10.0.0.2", nil), ("10.0.0.9", nil), ("203.0.113.9", .discarded),
        ] as [(String, NetworkPath.UnsatisfiedReason?)] {
            #expect(try NetworkReachabilityManager(host: host, kernel: kernel).path.reason == reason, "\(host)")
        }
        kernel.removeRoute("default")
        kernel.addRoute("0.0.0.0/1", on: "dummy0")
        kernel.addRoute("128.0.0.0/1", on: "dummy0")
        #expect(manager.path.reason == .discarded)
    }

    /// The chain breaks at the link, and the advice is about the one to blame.
    private func expectBlame(_ manager: NetworkReachabilityManager, _ remedy: String) throws {
        let step = try #require(manager.evidence().steps.first { $0.state == .broken })
        #expect(step.kind == .link)
        #expect(step.remedy?.hasPrefix(remedy) == true, "\(step.remedy ?? "none")")
    }
}
