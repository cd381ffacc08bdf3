import Glibc
import KernelLab
import LinuxSupport
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

@Suite("The quorum of general reachability")
struct QuorumTests {
    private func addresses(_ count: Int) -> [IPAddress] {
        (0..<count).map { IPAddress(WireAddress(ipv4: 0xc000_0200 + UInt32($0))) }
    }

    private func verdict(_ isSatisfied: Bool, interface: UInt32 = 2) -> Verdict {
        let way = Verdict.Egress(link: interface, source: WireAddress(ipv4: 1), mtu: 1500, isLocal: false)
        return Verdict(
            destination: IPAddress(WireAddress(ipv4: 2)),
            outcome: isSatisfied ? .success(way) : .failure(Verdict.Obstacle(.noRoute))
        )
    }

    @Test func `only as many addresses are judged as can decide`() {
        var quorum = Quorum(addresses(8), .majority)
        #expect(!quorum.isDecided)
        #expect(quorum.next.count == 5)
        quorum.count([true, true, true, true, false].map { verdict($0) })
        #expect(!quorum.isDecided)
        #expect(quorum.next.count == 1)
        quorum.count([verdict(true)])
        #expect(quorum.isDecided && quorum.isReached)
    }

    @Test func `half of the addresses is not a majority`() {
        var quorum = Quorum(addresses(8), .majority)
        quorum.count([true, true, true, true, false, false, false, false].map { verdict($0) })
        #expect(quorum.isDecided && !quorum.isReached)
    }

    @Test func `the quorum ends when it can no longer be reached`() {
        var quorum = Quorum(addresses(5), .majority)
        quorum.count([verdict(false), verdict(false)])
        #expect(!quorum.isDecided)
        quorum.count([verdict(false)])
        #expect(quorum.isDecided && !quorum.isReached)
    }

    @Test func `a quorum without addresses is not reached`() {
        #expect(Quorum([], .majority).isDecided)
        #expect(!Quorum([], .majority).isReached)
    }

    @Test func `one address of a host is sufficient, and all are judged at once`() {
        var quorum = Quorum(addresses(3), .one)
        #expect(quorum.next.count == 3)
        quorum.count([verdict(false), verdict(true), verdict(false)])
        #expect(quorum.isDecided && quorum.isReached)
        quorum = Quorum(addresses(1), .one)
        quorum.count([verdict(false)])
        #expect(quorum.isDecided && !quorum.isReached && quorum.next.isEmpty)
    }

    @Test func `the path uses the interface that most addresses use`() {
        var quorum = Quorum(addresses(3), .majority)
        quorum.count([verdict(true, interface: 2), verdict(true, interface: 3), verdict(true, interface: 3)])
        #expect(quorum.mostCommon == quorum.verdicts[1])
    }

    @Test func `the obstacle closest to success is reported`() {
        let verdicts = zip(addresses(4), [.noRoute, .noCarrier, .noCarrier, .refused] as [Verdict.Cause]).map {
            Verdict(destination: $0, outcome: .failure(Verdict.Obstacle($1)))
        }
        var quorum = Quorum(addresses(5), .one)
        #expect(quorum.worst == nil)
        quorum.count([verdict(true)])
        #expect(quorum.worst == nil)
        quorum.count(verdicts)
        #expect(quorum.worst == verdicts[1])
    }

    @Test func `the shortest lifetime of the verdicts applies`() {
        var quorum = Quorum(addresses(3), .majority)
        #expect(quorum.lifetime == nil)
        var short = verdict(true)
        short.lifetime = .seconds(3)
        var long = verdict(true)
        long.lifetime = .seconds(5)
        quorum.count([verdict(true), long, short])
        #expect(quorum.lifetime == .seconds(3))
    }
}

/// Bindings to a source address, and restrictions of interface types.
@Suite struct ConstrainedPathTests {
    private let kernel = FakeKernel()

    /// `eth0` has a default route. Packets from the address of `wwan0` leave through `wwan0`.
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

    @Test func `rules on the source address select the route`() throws {
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

    @Test func `a link-local IPv4 address is the source for a router if the route or the socket names it`() throws {
        let source = IPAddress("169.254.7.7")
        kernel.addAddress("169.254.7.7/16", to: "eth0", linkScope: true)
        kernel.addRoute("198.51.100.0/24", via: "10.0.0.1", source: "169.254.7.7")
        let named = try path("198.51.100.7") { _ in }
        #expect(named.status.isReachable && named.source == source)
        #expect(try path("203.0.113.7") { $0.sourceAddress = source }.status.isReachable)
        // Without a router, a default route does not make the destination a neighbour.
        kernel.addRoute("0.0.0.0/0", on: "eth0", table: 20, source: "169.254.7.7")
        kernel.addRule(priority: 50, to: "203.0.113.0/24", .lookUp(table: 20))
        #expect(try path("203.0.113.7") { _ in }.reason == .noSourceAddress)
    }

    @Test(arguments: ["10.9.0.3", "192.0.2.1", "fd00::3"])
    func `an address of another machine is not a valid source`(source: String) throws {
        let host = source.contains(":") ? "2001:db8::1" : "203.0.113.7"
        #expect(try path(host) { $0.sourceAddress = IPAddress(source) }.reason == .noSourceAddress)
        #expect(try path { $0.sourceAddress = IPAddress(source) }.status == .notReachable)
    }

    @Test func `addresses of the other family are ignored`() throws {
        #expect(throws: NetworkReachabilityError.otherFamily("2001:db8::1")) {
            try path("2001:db8::1") { $0.sourceAddress = IPAddress("10.0.0.2") }
        }
    }

    @Test func `interface types can be required and excluded`() throws {
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

    @Test func `the available interfaces include those of both families`() throws {
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

@Suite("Addresses and host names")
struct AddressTests {
    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("fe80::1%eth0", "fe80::1%eth0"), ("fe80::1%2", "fe80::1%2"), ("192.0.2.1%red", "192.0.2.1%red"),
            ("::", "::"), ("0.0.0.0", "0.0.0.0"),
        ]
    )
    func `the text of an address is canonical`(text: String, description: String) {
        #expect(IPAddress(text)?.description == description)
    }

    @Test(
        arguments: [
            "", " ", "1.2.3", "1.2.3.4.5", "256.1.1.1", "192.0.2.1:80", "192.0.2.0/24", "[::1]", "::1:80:", "fe80::1%",
            "fe80::1%a/b", "fe80::1%a b", "192.0.2.1%", "192.0.2.1%a/b",
            "fe80::1%" + String(repeating: "x", count: 128), "localhost",
        ]
    )
    func `invalid literals are rejected`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: ["2", "eth0", "interface", "abcdefghijklmno", "an-alternative-name-of-it", "wlän0"])
    func `an address keeps its zone`(name: String) throws {
        let address = try #require(IPAddress("fe80::1%\(name)"))
        #expect(address.zone == name)
        #expect(address == IPAddress(address.wire, zone: name) && address != IPAddress("fe80::1%x"))
        #expect(address != IPAddress("fe80::1") && IPAddress("fe80::1")?.zone == nil)
        #expect(IPAddress(try #require(IPAddress("192.0.2.1")).wire, zone: name).zone == nil)
    }

    @Test func `a socket address is converted to an address`() {
        var ipv4 = sockaddr_in()
        ipv4.sin_family = sa_family_t(AF_INET)
        ipv4.sin_port = 80
        ipv4.sin_addr.s_addr = UInt32(0xc000_0201).bigEndian
        #expect(IPAddress(ipv4).description == "192.0.2.1")

        var ipv6 = sockaddr_in6()
        ipv6.sin6_family = sa_family_t(AF_INET6)
        ipv6.sin6_scope_id = 7
        inet_pton(AF_INET6, "fe80::7", &ipv6.sin6_addr)
        #expect(IPAddress(ipv6).description == "fe80::7%7")

        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { storage in
            withUnsafeBytes(of: ipv6) { storage.copyMemory(from: $0) }
        }
        #expect(IPAddress(storage) == IPAddress("fe80::7%7"))
        #expect(IPAddress(sockaddr_storage()) == nil)
    }

    @Test func `the initializer throws the reason`() {
        func error(_ host: String) -> NetworkReachabilityError? {
            do throws(NetworkReachabilityError) {
                _ = try NetworkReachabilityManager(host: host, options: NetworkReachabilityOptions())
                return nil
            } catch {
                return error
            }
        }
        #expect(error("http://example.org") == .invalidHost("http://example.org"))
        #expect(error("fe80::1") == .zoneRequired("fe80::1"))
        #expect(error("fe80::1")?.description.contains("fe80::1%eth0") == true)
        #expect(NetworkReachabilityManager(host: "") == nil)
        #expect(NetworkReachabilityManager(host: "example.org:443") == nil)
        #expect(NetworkReachabilityManager(address: sockaddr_storage()) == nil)
    }

    @Test func `the default addresses have no majority in half of the address space`() {
        let ipv4 = GeneralAddresses.all.filter { !$0.isIPv6 }
        #expect(GeneralAddresses.all.count == 13)
        #expect(ipv4.count == 8)
        #expect(ipv4.count { $0.wire.bits >> 31 == 0 } == 4)
    }

    @Test func `IPv4 addresses of general reachability are evaluated first, in any given order`() throws {
        let given = try ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"].map { try #require(IPAddress($0)) }
        #expect(Target(.general(given)).destination == .general([given[1], given[3], given[0], given[2]]))
    }
}
