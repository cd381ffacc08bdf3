import Dispatch
import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// Packets bound to an interface or a VRF. Only the fake kernel has a VRF on every test machine.
@Suite struct BoundTargetTests {
    private let kernel = FakeKernel()

    /// `eth0` has a default route. `eth1` is a port of the VRF `red`, whose table has no default route.
    init() throws {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addAddress("fd00::2/64", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
        kernel.addRoute("::/0", via: "fd00::1")
        kernel.addLink("red", kind: .vrf(table: 10))
        kernel.addLink("eth1", portOf: "red")
        kernel.addAddress("10.9.0.2/24", to: "eth1")
    }

    private func path(_ host: String? = nil, over interface: String? = nil) throws -> NetworkPath {
        var options = NetworkReachabilityOptions()
        options.interface = interface
        guard let host else { return try NetworkReachabilityManager(kernel: kernel, options: options).path }
        return try NetworkReachabilityManager(host: host, kernel: kernel, options: options).path
    }

    private func addDefaultRoute() {
        kernel.addRoute("default", via: "10.9.0.1", on: "eth1", table: 10)
        kernel.addRoute("10.9.0.0/24", on: "eth1", table: 10)
    }

    @Test(arguments: ["red", "eth1"])
    func `packets bound to a VRF or its port use the table of the VRF`(interface: String) throws {
        #expect(try path().reason == nil)
        #expect(try path(over: interface).reason == .noRoute)
        #expect(try path("203.0.113.7%\(interface)").reason == .noRoute)
        addDefaultRoute()
        for path in [try path(over: interface), try path("203.0.113.7%\(interface)")] {
            #expect(path.status.isReachable)
            #expect(path.interface?.name == "eth1")
            #expect(path.gateway == IPAddress("10.9.0.1"))
        }
        #expect(try path().interface?.name == "eth0")
        kernel.setCarrier("eth1", false)
        #expect(try path(over: interface).reason == .noCarrier)
        #expect(try path().status.isReachable)
    }

    @Test func `an interface without a route has no path, although IPv4 answers on-link`() throws {
        kernel.addLink("eth2")
        kernel.addAddress("10.2.0.2/24", to: "eth2")
        kernel.addAddress("fd02::2/64", to: "eth2")
        for host in ["203.0.113.7", "2001:db8::7"] {
            #expect(try path(host, over: "eth2").reason == .noRoute, "\(host)")
            #expect(try path(host, over: "eth0").status.isReachable, "\(host)")
        }
        #expect(try path("10.2.0.9", over: "eth2").status.isReachable)
        #expect(try path("169.254.7.7", over: "eth2").status.isReachable)
        kernel.setUp("eth2", false)
        #expect(try path("203.0.113.7", over: "eth2").reason == .linkDown)
    }

    @Test func `a tunnel carries packets that are bound to it without a route`() throws {
        kernel.addLink("tun0", kind: .tun)
        kernel.addAddress("10.3.0.2/32", to: "tun0")
        #expect(try path("203.0.113.7", over: "tun0").status.isReachable)
    }

    @Test func `a binding follows the name of the interface`() async throws {
        addDefaultRoute()
        var options = NetworkReachabilityOptions()
        options.interface = "blue"
        let manager = try NetworkReachabilityManager(host: "203.0.113.7", kernel: kernel, options: options)
        let listener = RecordingListener<NetworkReachabilityStatus>()
        manager.startListening(onQueue: .global(), onUpdatePerforming: listener.record)
        #expect(await listener.waitForCount(1))
        #expect(manager.path.reason == .noInterface)
        kernel.rename("eth1", to: "blue")
        #expect(await listener.waitForCount(2))
        kernel.rename("blue", to: "green")
        #expect(await listener.waitForCount(3))
        #expect(listener.values == [.notReachable, .reachable(.ethernetOrWiFi), .notReachable])
        let step = manager.evidence().brokenStep
        #expect(step?.summary == "203.0.113.7: there is no interface blue")
    }

    @Test func `the default binding is that of new sockets`() throws {
        addDefaultRoute()
        var options = NetworkReachabilityOptions()
        options.boundInterface = kernel.index(of: "red")
        func name() throws -> String? {
            try NetworkReachabilityManager(host: "203.0.113.7", kernel: kernel, options: options).path.interface?.name
        }
        #expect(try name() == "eth1")
        options.interface = "eth0"
        #expect(try name() == "eth0")
        options.interface = nil
        options.networkNamespace = .named("elsewhere")
        #expect(try name() == "eth0")
    }

    @Test func `a link-local address uses the bound interface as its zone`() throws {
        #expect(try path("fe80::9", over: "eth0").destination == IPAddress("fe80::9%eth0"))
        #expect(try path("fe80::9%eth0", over: "red").status.isReachable)
    }

    @Test(arguments: ["", String(repeating: "x", count: 128), "a/b", "a b", "a%b"])
    func `an invalid interface name is rejected`(name: String) throws {
        #expect(throws: NetworkReachabilityError.invalidInterface(name)) { try path(over: name) }
    }

    @Test func `only addresses of the selected family are evaluated`() async throws {
        let resolver = FakeResolver()
        resolver.set("both.example", addresses: ["203.0.113.7", "2001:db8::7"])
        resolver.set("old.example", addresses: ["203.0.113.7"])
        kernel.removeRoute("::/0")
        func path(_ host: String?, _ family: AddressFamily) async throws -> NetworkPath {
            var options = NetworkReachabilityOptions()
            options.family = family
            guard let host else { return try NetworkReachabilityManager(kernel: kernel, options: options).path }
            return try await NetworkReachabilityManager(
                host: host,
                kernel: kernel,
                resolver: resolver,
                options: options
            )
            .currentPath()
        }
        for host in [nil, "both.example", "203.0.113.7"] { #expect(try await path(host, .ipv4).supportsIPv4) }
        for host in [nil, "both.example", "2001:db8::7"] { #expect(try await path(host, .ipv6).reason == .noRoute) }
        #expect(try await path("old.example", .ipv6).reason == .nameNotResolved)
        await #expect(throws: NetworkReachabilityError.otherFamily("203.0.113.7")) {
            try await path("203.0.113.7", .ipv6)
        }
    }
}

/// The result for an interface, compared with packets that are bound to it.
@Suite struct BoundPacketTests {
    private static let hosts = ["1.1.1.1", "2606:4700:4700::1111"]

    @Test func `packets bound to an interface use its routes`() async throws {
        let network = try await LabThread.detached { try Topology(.two) }
        defer { network.close() }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", false)
        try await LabThread.detached {
            try network.client.ip(
                "-4 route add default via 10.2.0.1 dev c1 metric 500",
                "-6 route add default via fd02::1 dev c1 metric 5000"
            )
        }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", true)
        try await LabThread.detached {
            try network.client.ip("-4 route del default dev c0", "-6 route del default dev c0")
        }
        try await expect(network, over: "c0", false)
        try await expect(network, over: "c1", true)
        try await LabThread.detached { try network.client.ip("link set c1 down") }
        try await expect(network, over: "c1", false)
        try await expect(network, over: "c9", false)
    }

    private func expect(_ network: Topology, over name: String, _ isReachable: Bool) async throws {
        let bound = Self.hosts.map { "\($0)%\(name)" }
        try await LabThread.detached {
            let reachable = try network.oracle.reachable(of: bound, expecting: isReachable ? Set(bound) : [])
            #expect(reachable == (isReachable ? Set(bound) : []), "packets over \(name)")
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .path(network.client.path)
            for host in bound {
                #expect(
                    try NetworkReachabilityManager(host: host, options: options).isReachable == isReachable,
                    "\(host)"
                )
            }
            options.interface = name
            for host in Self.hosts {
                #expect(
                    try NetworkReachabilityManager(host: host, options: options).isReachable == isReachable,
                    "\(host)"
                )
            }
            for family in [nil, AddressFamily.ipv4, .ipv6] {
                options.family = family
                #expect(try NetworkReachabilityManager(options: options).isReachable == isReachable, "over \(name)")
            }
        }
    }
}

/// A namespace with an uplink, and a witness in another namespace: the far end of a veth pair, which exists as long as
/// the namespace.
final class WitnessedNamespace: Sendable {
    let uplink: Uplink
    let name: NamespaceName
    private let witness: LabNamespace
    private let mark: String

    /// Creates the namespace. Blocks.
    init(_ name: String, in directory: String, witness: LabNamespace, mark: String) throws {
        uplink = try Uplink()
        self.name = try NamespaceName(name, in: directory, for: uplink.namespace)
        self.witness = witness
        self.mark = mark
        try uplink.namespace.ip("link add inside type veth peer name \(mark) netns \(witness.path)")
    }

    /// Removes the name and closes the namespace. It is then freed unless another owner keeps it alive.
    func delete() {
        name.remove()
        uplink.namespace.close()
    }

    /// Returns whether the kernel has freed the namespace. The kernel does this some time later and sends no event.
    func isFreed() async throws -> Bool {
        try await eventually {
            try await LabThread.detached { [witness, mark] in
                try witness.run("ip", ["link", "show", "dev", mark]).status != 0
            }
        }
    }

    var options: NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(name.path)
        return options
    }
}
