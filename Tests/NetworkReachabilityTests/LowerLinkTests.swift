import KernelLab
import LinuxSupport
import NetworkDiagnostics
import NetworkReachabilityTesting
import Testing

@testable import Netlink
@testable import NetworkReachability

/// Links that keep their carrier if a lower link fails. Only the fake kernel has all of them on every test machine.
@Suite struct LowerLinkTests {
    private let kernel = FakeKernel()

    /// Adds a default route through `name`, and returns the manager.
    private func manager(through name: String) throws -> NetworkReachabilityManager {
        kernel.addAddress("10.0.0.2/24", to: name)
        kernel.addRoute("default", via: "10.0.0.1")
        return try NetworkReachabilityManager(kernel: kernel)
    }

    @Test(arguments: [FakeKernel.LinkKind.looseVLAN, .rmnet])
    func `a lower link that is down or without carrier is an obstacle`(kind: FakeKernel.LinkKind) throws {
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

    @Test func `a link two layers below is an obstacle`() throws {
        kernel.addLink("low0")
        kernel.addLink("mid0", kind: .looseVLAN, over: "low0")
        kernel.addLink("top0", kind: .looseVLAN, over: "mid0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setUp("low0", false)
        #expect(manager.path.reason == .linkDown)
        try expectBlame(manager, "low0 is down")
    }

    @Test func `a mesh without a port with carrier has no path`() throws {
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

    @Test func `a default route to a VRF depends on the routes of the VRF`() throws {
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

    @Test func `a default route through a dummy has no path, a narrower route has one`() throws {
        kernel.addLink("dummy0", kind: .dummy)
        let manager = try manager(through: "dummy0")
        #expect(manager.path.reason == .discarded)
        try expectBlame(manager, "change the default route to another interface than dummy0")
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

    /// Adds an uplink with an address, a tunnel over it, and its far end behind the router.
    private func addTunnel(_ kind: FakeKernel.LinkKind, portOf controller: String? = nil) {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.2/24", to: "eth0")
        kernel.addRoute("198.51.100.0/24", via: "192.0.2.1")
        kernel.addLink("tun0", kind: kind, portOf: controller)
    }

    @Test(arguments: [FakeKernel.LinkKind.bridge, .bond, .mesh])
    func `the lower link of a port is evaluated`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("top0", kind: kind)
        addTunnel(.vxlan, portOf: "top0")
        kernel.setTunnel("tun0", to: "198.51.100.9")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setCarrier("eth0", false)
        #expect(manager.path.reason == .noCarrier)
        kernel.setCarrier("eth0", true)
        kernel.removeRoute("198.51.100.0/24")
        // The far end uses the default route, which leads through the tunnel.
        #expect(manager.path.reason == .noRoute)
        // Another port with a path to the network is sufficient.
        kernel.addLink("eth1", portOf: "top0")
        #expect(manager.path.reason == nil)
    }

    @Test(arguments: [FakeKernel.LinkKind.bridge, .bond])
    func `a port over a VLAN with loose binding is evaluated`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("low0")
        kernel.addLink("top0", kind: kind)
        kernel.addLink("mid0", kind: .looseVLAN, over: "low0", portOf: "top0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setUp("low0", false)
        #expect(manager.path.reason == .linkDown)
        kernel.setUp("low0")
        kernel.setCarrier("low0", false)
        #expect(manager.path.reason == .noCarrier)
    }

    @Test func `the active port of a bond decides until it loses its carrier`() throws {
        kernel.addLink("low0")
        kernel.addLink("bond0", kind: .bond)
        kernel.addLink("mid0", kind: .looseVLAN, over: "low0")
        kernel.addLink("eth1", portOf: "bond0")
        kernel.setController("mid0", "bond0", isActive: true)
        let manager = try manager(through: "bond0")
        #expect(manager.path.reason == nil)
        kernel.setCarrier("low0", false)
        #expect(manager.path.reason == .noCarrier)
        // The bond selects another port as soon as the active one loses its carrier.
        kernel.setCarrier("mid0", false)
        #expect(manager.path.reason == nil)
    }

    @Test(arguments: [FakeKernel.LinkKind.vlan, .macvlan, .looseVLAN])
    func `a default route over a device that discards packets has no path`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("dummy0", kind: .dummy)
        kernel.addLink("top0", kind: kind, over: "dummy0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == .discarded)
        try expectBlame(manager, "change the default route to another interface than top0, which runs over dummy0")
    }

    @Test(arguments: [FakeKernel.LinkKind.bridge, .bond])
    func `a port that discards packets does not count`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("top0", kind: kind)
        kernel.addLink("dummy0", kind: .dummy, portOf: "top0")
        kernel.addLink("eth0", portOf: "top0")
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setCarrier("eth0", false)
        #expect(manager.path.reason == .noCarrier)
        kernel.removeLink("eth0")
        #expect(manager.path.reason == .discarded)
    }

    @Test func `stations on one device reach each other although the device discards packets`() throws {
        kernel.addLink("dummy0", kind: .dummy)
        kernel.addLink("top0", kind: .macvlan, over: "dummy0")
        kernel.addAddress("10.0.0.2/24", to: "top0")
        #expect(try NetworkReachabilityManager(host: "10.0.0.9", kernel: kernel).path.reason == nil)
    }

    @Test(arguments: ["dummy", "ifb", "nlmon"])
    func `dummy, ifb and nlmon discard packets`(kind: String) {
        #expect(Netlink.Link.fake(7, kind: kind).discardsPackets)
    }

    @Test(arguments: [FakeKernel.LinkKind.wireGuard, .xfrm])
    func `WireGuard and IPsec depend on the path to the peer that accepts the destination`(
        kind: FakeKernel.LinkKind
    ) throws {
        addTunnel(kind)
        let near = WireAddress(ipv4: 0xc000_0209)
        let far = WireAddress(ipv4: 0xc633_6409)
        let all = AddressPrefix(WireAddress(ipv4: 0), length: 0)
        let narrow = AddressPrefix(WireAddress(ipv4: 0xcb00_7100), length: 24)
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(near, accepting: [all]), TunnelFarEnd(far, accepting: [narrow])])
        let manager = try manager(through: "tun0")
        let host = try NetworkReachabilityManager(host: "203.0.113.9", kernel: kernel)
        #expect(manager.path.reason == nil && host.path.reason == nil)
        kernel.addRoute("198.51.100.0/24", kind: .prohibit, replacing: true)
        #expect(manager.path.reason == nil)
        #expect(host.path.reason == .prohibited)
        #expect(host.evidence().links.first?.tunnelRemote?.description == "198.51.100.9")
        kernel.setCarrier("eth0", false)
        #expect(manager.path.reason == .noCarrier)
    }

    @Test(arguments: [FakeKernel.LinkKind.wireGuard, .xfrm])
    func `WireGuard and IPsec have no path without an accepting peer or an endpoint`(
        kind: FakeKernel.LinkKind
    ) throws {
        addTunnel(kind)
        let manager = try manager(through: "tun0")
        let all = AddressPrefix(WireAddress(ipv4: 0), length: 0)
        kernel.setFarEnds(of: "tun0", [])
        #expect(manager.path.reason == .unreachable)
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(nil, accepting: [all])])
        #expect(manager.path.reason == .unreachable)
    }

    /// The outer packets may have a mark that is not known.
    @Test func `an IPsec tunnel whose far end is routed through itself is not judged`() throws {
        addTunnel(.xfrm)
        let manager = try manager(through: "tun0")
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(WireAddress(ipv4: 0xcb00_7109))])
        #expect(manager.path.reason == nil)
    }

    @Test func `the far end is looked up with the mark of the outer packets`() throws {
        addTunnel(.wireGuard)
        let all = AddressPrefix(WireAddress(ipv4: 0), length: 0)
        let manager = try manager(through: "tun0")
        kernel.addRoute("default", via: "192.0.2.1", table: 100)
        kernel.addRule(priority: 50, mark: 51820, .lookUp(table: 100))
        let end = WireAddress(ipv4: 0xcb00_7109)
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(end, accepting: [all])])
        #expect(manager.path.reason == .noRoute)
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(end, accepting: [all], mark: 51820)])
        #expect(manager.path.reason == nil)
    }

    @Test func `a far end that the kernel does not report is shown as unknown`() throws {
        addTunnel(.wireGuard)
        kernel.showPeers(false)
        let manager = try manager(through: "tun0")
        #expect(manager.path.reason == nil)
        let link = try #require(manager.evidence().steps.first { $0.kind == .link })
        #expect(link.summary.hasSuffix("; the far end of tun0 is not known without CAP_NET_ADMIN"), "\(link.summary)")
        kernel.setCarrier("eth0", false)
        #expect(manager.path.reason == nil)
    }

    @Test func `one reachable far end of a VXLAN device is sufficient`() throws {
        addTunnel(.vxlan)
        let ends = [0xc000_0209, 0xcb00_7109].map { TunnelFarEnd(WireAddress(ipv4: $0)) }
        kernel.setFarEnds(of: "tun0", ends)
        let manager = try manager(through: "tun0")
        #expect(manager.path.reason == nil)
        kernel.setCarrier("eth0", false)
        #expect(manager.path.reason == .noCarrier)
        // A multicast group has no single address to evaluator.
        kernel.setFarEnds(of: "tun0", [TunnelFarEnd(WireAddress(ipv4: 0xef01_0101))])
        #expect(manager.path.reason == nil)
    }

    @Test func `outer packets require their source address`() throws {
        addTunnel(.vxlan)
        kernel.setTunnel("tun0", to: "198.51.100.9", from: "192.0.2.2")
        let manager = try manager(through: "tun0")
        #expect(manager.path.reason == nil)
        kernel.setTunnel("tun0", to: "198.51.100.9", from: "192.0.2.3")
        #expect(manager.path.reason == .noSourceAddress)
    }

    @Test(arguments: [FakeKernel.LinkKind.bond, .bridge])
    func `a controller that is down is the reason, independent of its ports`(kind: FakeKernel.LinkKind) throws {
        kernel.addLink("top0", kind: kind)
        kernel.addLink("eth0", portOf: "top0")
        kernel.addLink("eth1", portOf: "top0")
        kernel.addLink("dummy0", kind: .dummy)
        kernel.addLink("docker0", kind: .bridge)
        let manager = try manager(through: "top0")
        #expect(manager.path.reason == nil)
        kernel.setUp("top0", false)
        #expect(manager.path.reason == .linkDown)
        #expect(manager.path.interface?.name == "top0")
        let fresh = try NetworkReachabilityManager(kernel: kernel)
        try expectBlame(fresh, "top0 is down: set it up with `ip link set top0 up`")
    }

    @Test func `the reason of a VLAN names its lower link`() throws {
        kernel.addLink("low0")
        kernel.addLink("top0", kind: .vlan, over: "low0")
        kernel.setUp("low0", false)
        kernel.setUp("top0", false)
        let manager = try NetworkReachabilityManager(kernel: kernel)
        #expect(manager.path.reason == .linkDown)
        #expect(manager.path.interface?.name == "low0")
    }

    /// Expects that the chain breaks at the link, with this remedy.
    private func expectBlame(_ manager: NetworkReachabilityManager, _ remedy: String) throws {
        let step = try #require(manager.evidence().steps.first { $0.state == .broken })
        #expect(step.kind == .link)
        #expect(step.remedy?.hasPrefix(remedy) == true, "\(step.remedy ?? "none")")
    }
}
