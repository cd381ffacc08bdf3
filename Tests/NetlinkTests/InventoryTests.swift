import CLinux
import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import LinuxSupport
@testable import Netlink

/// Addresses and default routes of the real kernel.
@Suite struct InventoryTests {
    private static func namespace() throws -> LabNamespace {
        let namespace = try LabNamespace()
        try namespace.ip(
            "link set lo up",
            "link add v0 index 5 type veth peer name v1",
            "link set v0 up",
            "link set v1 up",
            "addr add 192.0.2.2/24 dev v0",
            "addr add 2001:db8::2/64 dev v0 nodad"
        )
        return namespace
    }

    private static func routes(_ namespace: LabNamespace) throws -> [DefaultRoute] {
        try namespace.perform { try DefaultRouteDump.query() }
    }

    private static func route(_ gateway: String, metric: UInt32, table: UInt32 = 254) throws -> DefaultRoute {
        let gateway = try #require(WireAddress(gateway))
        let hop = NextHop(interface: 5, gateway: gateway)
        return DefaultRoute(family: gateway.family, table: table, metric: metric, nextHops: [hop])
    }

    @Test func `default routes are found among similar routes`() throws {
        let namespace = try Self.namespace()
        #expect(try Self.routes(namespace).isEmpty)
        // All of these share the first leaf of the table with the default routes, or lead to 0.0.0.0 or ::.
        let likes = (1...32).map { "-4 route add 0.0.0.0/\($0) via 192.0.2.1" }
        try namespace.ip(likes + (1...64).map { "-6 route add ::/\($0) via 2001:db8::1" })
        #expect(try Self.routes(namespace).isEmpty)
        try namespace.ip(
            "-4 route add default via 192.0.2.9 metric 7",
            "-4 route add default via 192.0.2.1",
            "-4 route add blackhole default metric 1",
            "-6 route add default via 2001:db8::9 metric 7",
            "-6 route add unreachable default metric 3",
            "-4 rule add from 198.51.100.0/24 table 4242",
            "-4 route add default via 192.0.2.3 table 4242",
            "-4 route add default via 192.0.2.4 table 4243",
            // A table that does not exist.
            "-6 rule add from 2001:db8:9::/48 table 4242"
        )
        let expected = [
            try Self.route("192.0.2.1", metric: 0), try Self.route("192.0.2.9", metric: 7),
            try Self.route("192.0.2.3", metric: 0, table: 4242), try Self.route("2001:db8::9", metric: 7),
        ]
        #expect(try Self.routes(namespace) == expected)
    }

    @Test func `every next hop of a default route is found`() throws {
        let namespace = try Self.namespace()
        try namespace.ip(
            "-4 route add default nexthop via 192.0.2.1 nexthop via 192.0.2.9",
            "-6 route add default nexthop via 2001:db8::1 nexthop via 2001:db8::9"
        )
        #expect(try Self.routes(namespace).map(\.nextHops.count) == [2, 2])
    }

    /// The dump of an IPv4 table ends after its first datagram.
    @Test func `a large IPv4 table is not read completely`() throws {
        let namespace = try Self.namespace()
        try namespace.ip(["-4 route add default via 192.0.2.1"])
        let many = (0..<20_000).map { "route add 20.\($0 >> 8).\($0 & 255).0/24 via 192.0.2.1" }
        try namespace.ip(many)
        var taken = 0
        try namespace.perform { () throws in
            let transport = try SocketTransport()
            transport.enableStrictChecks()
            var request = RequestBuilder()
            request.begin(.getRoute, flags: NLM_F_DUMP, sequence: 1)
            request.append(DefaultRouteDump.restriction(.ipv4, 254))
            _ = try transport.dump(request.bytes) { _ in
                taken += 1
                return taken < 20_000
            }
        }
        #expect(taken == 20_000)
        let only = try Self.route("192.0.2.1", metric: 0)
        #expect(try Self.routes(namespace) == [only])
    }

    @Test func `addresses have their flags`() throws {
        let namespace = try Self.namespace()
        try namespace.ip(
            "addr add 192.0.2.3/24 dev v0",
            "addr add 198.51.100.1 peer 198.51.100.2/32 dev v0",
            "addr add 2001:db8::3/64 dev v0 nodad preferred_lft 0 valid_lft forever"
        )
        let addresses = try namespace.perform { try RouteSockets().answer(to: .addresses).addresses }.filter {
            !$0.address.isLinkLocal
        }
        let known: AddressFlags = [.secondary, .optimistic, .detectionFailed, .deprecated, .tentative]
        let texts = addresses.map { "\($0.interface) \($0) \($0.flags.intersection(known).rawValue)" }
        #expect(
            Set(texts) == [
                "1 127.0.0.1/8 0", "1 ::1/128 0", "5 192.0.2.2/24 0", "5 192.0.2.3/24 1", "5 198.51.100.1/32 0",
                "5 2001:db8::2/64 0", "5 2001:db8::3/64 32",
            ]
        )
        #expect(addresses.filter { !$0.isUsable }.isEmpty)
    }

    @Test func `tentative and duplicate addresses are not usable`() throws {
        let address = InterfaceAddress(interface: 1, address: .ipv6Loopback, prefixLength: 64)
        func isUsable(_ flags: AddressFlags) -> Bool {
            var address = address
            address.flags = flags
            return address.isUsable
        }
        #expect(isUsable([]))
        #expect(isUsable(.deprecated))
        #expect(!isUsable(.tentative))
        #expect(isUsable([.tentative, .optimistic]))
        #expect(!isUsable([.tentative, .detectionFailed]))
        #expect(!isUsable([.optimistic, .detectionFailed]))
    }
}

/// Options of router advertisements, which the kernel forwards to programs.
@Suite struct RouterOptionsTests {
    private static let portal = Array("https://portal.example/api".utf8) + [UInt8](repeating: 0, count: 4)

    /// An advertisement with the address of a portal (RFC 8910), as a router sends it. The kernel adds the checksum.
    private static var advertisement: [UInt8] {
        let option: [UInt8] = [37, UInt8((2 + portal.count) / 8)] + portal
        return [134, 0, 0, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + option
    }

    private static func advertise(on interface: String) throws {
        let raw = LabDescriptor(try check("socket", socket(AF_INET6, CInt(SOCK_RAW.rawValue), CInt(IPPROTO_ICMPV6))))
        var hops: CInt = 255
        let size = socklen_t(MemoryLayout<CInt>.size)
        try check("setsockopt", setsockopt(raw.number, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, &hops, size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = if_nametoindex(interface)
        guard inet_pton(AF_INET6, "ff02::1", &address.sin6_addr) == 1 else { return }
        let bytes = advertisement
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(raw.number, bytes, bytes.count, 0, address, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        try check("sendto", CInt(code))
    }

    @Test func `the address of a portal is received with its interface`() throws {
        let (options, interface) = try LabThread.run {
            let (host, router) = (try LabNamespace(), try LabNamespace())
            for namespace in [host, router] { try namespace.sysctl("net.ipv6.conf.default.accept_dad", "0") }
            try host.ip("link add h0 type veth peer name r0 netns \(router.path)", "link set h0 up")
            try router.ip("link set r0 up")
            return try host.perform { () -> ([RouterOptions], UInt32) in
                let socket = try RouterOptionSocket()
                #expect(socket.drain().isEmpty)
                var found: [RouterOptions] = []
                // Waits until the link-local address is usable.
                for _ in 0..<500 where found.isEmpty {
                    try? router.perform { try Self.advertise(on: "r0") }
                    var events = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                    poll(&events, 1, 20)
                    found = socket.drain()
                }
                return (found, if_nametoindex("h0"))
            }
        }
        let first = try #require(options.first)
        #expect(first.interface == interface)
        #expect(first.bytes == [37, 4] + Self.portal)
    }

    @Test func `damaged messages never crash the decoder`() async {
        let body: [UInt8] = [10, 0, 32, 0, 1, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 0, 37, 4] + Self.portal
        var chance = SeededGenerator(seed: 37)
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            let bytes = DamagedBytes.make(from: body, using: &chance)
            let found = bytes.withUnsafeBytes { RouterOptions(body: $0) }
            #expect(found?.bytes.count ?? 0 <= bytes.count)
        }
    }

    @Test func `truncated options are ignored`() {
        let body: [UInt8] = [10, 0, 16, 0, 1, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 0, 37, 1]
        for length in 0...body.count {
            #expect(body.prefix(length).withUnsafeBytes { RouterOptions(body: $0) } == nil)
        }
    }
}
