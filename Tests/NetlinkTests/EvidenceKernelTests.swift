import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// Rules, neighbours and entries as the real kernel tells them.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct EvidenceKernelTests {
    private static func ask<Value: Sendable>(
        _ commands: [String],
        _ body: @escaping @Sendable (RouteSockets, UInt32) throws -> Value
    ) async throws -> Value {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            try namespace.ip(
                [
                    "link set lo up", "link add u0 type veth peer name far", "link set far up", "link set u0 up",
                    "addr add 192.0.2.2/24 dev u0", "addr add 2001:db8::2/64 dev u0 nodad",
                ] + commands
            )
            let sockets = try namespace.perform { try RouteSockets() }
            return try body(sockets, try #require(try sockets.answer(to: .linkNamed("u0")).link).index)
        }
    }

    @Test func `the rules every namespace has`() async throws {
        let (ipv4, ipv6) = try await Self.ask([]) { sockets, _ in
            (try sockets.answer(to: .rules(.ipv4)).rules, try sockets.answer(to: .rules(.ipv6)).rules)
        }
        #expect(ipv4.map(\.priority) == [0, 32766, 32767])
        #expect(ipv4.map(\.table) == [255, 254, 253])
        #expect(ipv6 == [RoutingRule(priority: 0, table: 255), RoutingRule(priority: 32766, table: 254)])
    }

    @Test func `a rule with everything`() async throws {
        let rules = try await Self.ask([
            "rule add pref 10 not from 192.0.2.0/24 to 198.51.100.0/24 fwmark 0x10/0xf0 iif lo oif u0 uidrange 5-9 prohibit",
            "rule add pref 11 goto 32766", "rule add pref 12 table 300 suppress_prefixlength 0",
            "rule add pref 13 ipproto tcp dport 80 lookup 77", "rule add pref 14 unreachable",
            "rule add pref 15 blackhole",
        ]) { sockets, _ in try sockets.answer(to: .rules(.ipv4)).rules }
        let source = AddressPrefix(try #require(WireAddress("192.0.2.0")), length: 24)
        let destination = AddressPrefix(try #require(WireAddress("198.51.100.0")), length: 24)
        #expect(
            rules.dropFirst().prefix(6) == [
                RoutingRule(
                    priority: 10,
                    action: .prohibit,
                    source: source,
                    destination: destination,
                    mark: 0x10,
                    markMask: 0xf0,
                    inputInterface: "lo",
                    outputInterface: "u0",
                    users: 5...9,
                    isInverted: true
                ),
                RoutingRule(priority: 11, action: .goto, target: 32766),
                RoutingRule(priority: 12, table: 300, suppressedLength: 0),
                RoutingRule(priority: 13, table: 77, hasOtherSelectors: true),
                RoutingRule(priority: 14, action: .unreachable), RoutingRule(priority: 15, action: .blackhole),
            ]
        )
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func `a neighbour in every state that can be set`(text: String) async throws {
        let address = try #require(WireAddress(text))
        let states: [(String, NeighbourState)] = [
            ("permanent", .permanent), ("noarp", .noARP), ("stale", .stale), ("reachable", .reachable),
        ]
        for (word, state) in states {
            let (found, other, elsewhere) = try await Self.ask([
                "neigh add \(text) lladdr 02:00:00:00:00:99 dev u0 nud \(word)"
            ]) { sockets, link in
                (
                    try sockets.answer(to: .neighbour(address, link: link)).neighbour,
                    try sockets.answer(
                        to: .neighbour(WireAddress(family: address.family, bits: address.bits + 9), link: link)
                    ).neighbour,
                    try sockets.answer(to: .neighbour(address, link: 1)).neighbour
                )
            }
            #expect(found?.state == state && found?.hardwareAddress == [2, 0, 0, 0, 0, 0x99])
            #expect(other == nil)
            #expect(elsewhere == nil)
        }
    }

    @Test func `a neighbour that does not answer`() async throws {
        let address = try #require(WireAddress("192.0.2.1"))
        let found = try await Self.ask(["neigh add 192.0.2.1 dev u0 nud failed"]) { sockets, link in
            try sockets.answer(to: .neighbour(address, link: link)).neighbour
        }
        #expect(found?.state == .failed && found?.hardwareAddress == [])
    }

    @Test func `an entry tells its metric`() async throws {
        let metrics = try await Self.ask([
            "route add default via 192.0.2.1 metric 77", "route add default via 2001:db8::1 metric 88",
        ]) { sockets, _ in
            let queries = ["203.0.113.7", "2001:db8:9::7"].compactMap { WireAddress($0) }
                .map { RouteQuery(destination: $0, wantsEntry: true) }
            return try sockets.ask(queries.map { .route($0) }).map(\.route).map { try $0.get().metric }
        }
        #expect(metrics == [77, 88])
    }
}
