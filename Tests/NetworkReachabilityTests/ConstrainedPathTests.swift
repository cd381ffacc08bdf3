import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// What is bound to a source address, and which types of interfaces count.
@Suite struct ConstrainedPathTests {
    private let kernel = FakeKernel()

    /// `eth0` leads everywhere; what comes from the address of `wwan0` leaves through that.
    init() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addAddress("fd00::2/64", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
        kernel.addRoute("::/0", via: "fd00::1")
        kernel.addLink("wwan0", kind: .wwan)
        kernel.addAddress("10.9.0.2/24", to: "wwan0")
        kernel.addRoute("default", via: "10.9.0.1", on: "wwan0", table: 10)
        kernel.addRule(priority: 100, from: "10.9.0.2/32", .lookUp(table: 10))
    }

    private func path(
        _ host: String? = nil,
        _ change: (inout NetworkReachabilityOptions) -> Void
    ) throws -> NetworkPath {
        var options = NetworkReachabilityOptions()
        change(&options)
        guard let host else { return try NetworkReachabilityManager(kernel: kernel, options: options).path }
        return try NetworkReachabilityManager(host: host, kernel: kernel, options: options).path
    }

    @Test func `rules on the source decide where packets leave`() throws {
        for host in [nil, "203.0.113.7"] {
            #expect(try path(host) { _ in }.interface?.name == "eth0")
            let bound = try path(host) { $0.sourceAddress = IPAddress("10.9.0.2") }
            #expect(bound.interface?.name == "wwan0")
            #expect(bound.source == IPAddress("10.9.0.2"))
            #expect(bound.status == .reachable(.wwan))
            #expect(!bound.supportsIPv6)
        }
        let six = try path("2001:db8::1") { $0.sourceAddress = IPAddress("fd00::2") }
        #expect(six.status.isReachable && six.source == IPAddress("fd00::2"))
    }

    @Test(arguments: ["10.9.0.3", "192.0.2.1", "fd00::3"])
    func `an address of somebody else is no source`(source: String) throws {
        let host = source.contains(":") ? "2001:db8::1" : "203.0.113.7"
        #expect(try path(host) { $0.sourceAddress = IPAddress(source) }.reason == .noSourceAddress)
        #expect(try path { $0.sourceAddress = IPAddress(source) }.status == .notReachable)
    }

    @Test func `addresses of the other family do not count`() throws {
        #expect(throws: NetworkReachabilityError.otherFamily("2001:db8::1")) {
            try path("2001:db8::1") { $0.sourceAddress = IPAddress("10.0.0.2") }
        }
    }

    @Test func `types of interfaces are required and ruled out`() throws {
        #expect(try path { $0.requiredInterfaceType = .ethernet }.status.isReachable)
        let ruledOut = try path { $0.prohibitedInterfaceTypes = [.ethernet] }
        #expect(ruledOut.reason == .interfaceNotAllowed && ruledOut.interface?.name == "eth0")
        #expect(try path { $0.requiredInterfaceType = .wiFi }.reason == .interfaceNotAllowed)
        let modem = try path {
            $0.requiredInterfaceType = .wwan
            $0.sourceAddress = IPAddress("10.9.0.2")
        }
        #expect(modem.status == .reachable(.wwan))
        // This machine itself is reached through no interface.
        #expect(try path("127.0.0.1") { $0.requiredInterfaceType = .wiFi }.status.isReachable)
    }

    @Test func `the interfaces of both families are available`() throws {
        kernel.addLink("eth1")
        kernel.addAddress("fd01::2/64", to: "eth1")
        kernel.removeRoute("::/0", via: "fd00::1")
        kernel.addRoute("::/0", via: "fd01::1")
        #expect(try path { _ in }.availableInterfaces.map(\.name) == ["eth0", "eth1"])
        #expect(try path("203.0.113.7") { _ in }.availableInterfaces.map(\.name) == ["eth0"])
        kernel.setCarrier("eth0", false)
        #expect(try path("203.0.113.7") { _ in }.availableInterfaces.isEmpty)
    }
}
