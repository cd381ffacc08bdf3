import Foundation
import NetworkLab
import Testing

/// The broken step of `why`, and the effect of its remedy on real packets.
@Suite struct RemedyTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let host: String
        let commands: [String]
        /// The summary of the broken step.
        let summary: String
        /// Additional commands after the remedy.
        var rest: [String] = []

        var testDescription: String { name }
    }

    private static let four = "203.0.113.7"
    private static let six = "fd77::10"

    static let faults: [Fault] =
        ["prohibit", "blackhole", "unreachable"].flatMap { type in
            [
                Fault(
                    name: "\(type), IPv4",
                    host: four,
                    commands: ["route add \(type) 203.0.113.0/24"],
                    summary: "route      \(type) 203.0.113.0/24 table main"
                ),
                Fault(
                    name: "\(type), IPv6, in a table of its own",
                    host: six,
                    commands: ["-6 rule add pref 50 lookup 77", "-6 route add \(type) fd77::/64 table 77 metric 9"],
                    summary: "route      \(type) fd77::/64 table 77 metric 9"
                ),
                Fault(
                    name: "a rule of action \(type)",
                    host: four,
                    commands: ["-4 rule add pref 60 to 203.0.113.0/24 \(type)"],
                    summary: "rule       60: from all to 203.0.113.0/24 \(type)"
                ),
            ]
        } + [
            Fault(
                name: "a throw route, and nothing after it",
                host: four,
                commands: [
                    "route del default", "rule add pref 50 lookup 77", "route add default via 10.1.0.1 table 77",
                    "route add throw 203.0.113.0/24 table 77",
                ],
                summary: "throw 203.0.113.0/24 table 77 (rule 50) continues with later rules, which have no route"
            ),
            Fault(
                name: "a table that no rule asks",
                host: four,
                commands: ["route del default", "route add default via 10.1.0.1 table 77"],
                summary: "no rule looks up the table of default via 10.1.0.1 dev c0 table 77"
            ),
            Fault(
                name: "a default route that is passed over",
                host: four,
                commands: ["rule add pref 50 lookup main suppress_prefixlength 0", "rule del pref 32766"],
                summary: "rule 50 ignores default via 10.1.0.1 dev c0 table main (suppress_prefixlength)"
            ),
            Fault(
                name: "one of two rules of a priority",
                host: four,
                commands: [
                    "rule add pref 60 to 198.18.0.0/16 lookup main", "rule add pref 60 to 203.0.113.0/24 prohibit",
                ],
                summary: "rule       60: from all to 203.0.113.0/24 prohibit"
            ),
            Fault(
                name: "a next hop object of type blackhole",
                host: four,
                commands: ["nexthop add id 8 blackhole", "route add 203.0.113.0/24 nhid 8"],
                summary: "route      blackhole 203.0.113.0/24 table main"
            ),
            Fault(
                name: "the loopback device is down",
                host: "127.0.0.1",
                commands: ["link set lo down"],
                summary: "link       lo (loopback) down"
            ),
            Fault(
                name: "an MTU too small for IPv6",
                host: six,
                commands: ["link set c0 mtu 1200"],
                summary: "the MTU of c0 is 1200, and IPv6 needs 1280",
                rest: ["addr add fd01::2/64 dev c0 nodad", "route add default via fd01::1"]
            ),
            Fault(
                name: "IPv6 is switched off",
                host: six,
                commands: ["sysctl -w net.ipv6.conf.c0.disable_ipv6=1"],
                summary: "IPv6 is disabled on c0 (disable_ipv6)",
                rest: ["addr add fd01::2/64 dev c0 nodad", "route add default via fd01::1"]
            ),
        ]

    /// Runs commands. `ip` is added to most of them.
    private static func run(_ commands: [String], in namespace: LabNamespace) async throws {
        try await LabThread.detached {
            for command in commands {
                let isWhole = command.hasPrefix("ip ") || command.hasPrefix("sysctl ")
                let result = try namespace.run("sh", ["-c", isWhole ? command : "ip " + command])
                guard result.status == 0 else { throw LabError("\(command): \(result.errors)") }
            }
        }
    }

    private static func isReached(_ host: String, from topology: Topology, expected: Bool) async throws -> Bool {
        try await LabThread.detached {
            try topology.oracle.reachable(of: [host], expecting: expected ? [host] : []) == [host]
        }
    }

    @Test(arguments: faults)
    func `the broken step is named, and the command of its remedy works`(fault: Fault) async throws {
        let topology = try await LabThread.detached { try Topology() }
        #expect(try await Self.isReached(fault.host, from: topology, expected: true))
        try await Self.run(fault.commands, in: topology.client)
        #expect(try await !Self.isReached(fault.host, from: topology, expected: false))
        let broken = try await Explanation.of(fault.host, in: topology.client)
        #expect(!broken.isReachable)
        #expect(broken.lines.first { $0.hasPrefix("broken") }?.contains(fault.summary) == true, "\(broken.text)")
        let remedy = broken.lines.first { $0.contains("-> ") } ?? ""
        let command = try #require(remedy.split(separator: "`").dropFirst().first, "\(broken.text)")
        try await Self.run([String(command)] + fault.rest, in: topology.client)
        #expect(try await Self.isReached(fault.host, from: topology, expected: true))
        #expect(try await Explanation.of(fault.host, in: topology.client).isReachable)
    }

    @Test func `a duplicate address is reported as such`() async throws {
        let topology = try await LabThread.detached { try Topology(.none) }
        try await Self.run(
            [
                "link set c0 up", "sysctl -w net.ipv6.conf.c0.accept_dad=1",
                "sysctl -w net.ipv6.conf.c0.dad_transmits=1",
                "addr add fd01::1/64 dev c0", "route add default via fe80::1 dev c0",
            ],
            in: topology.client
        )
        try await waitUntil { try await Explanation.of(Self.six, in: topology.client).text.contains("dadfailed") }
        let result = try await Explanation.of(Self.six, in: topology.client)
        #expect(result.text.contains("another machine uses the address fd01::1/64 of c0 (dadfailed)"), "\(result.text)")
        #expect(result.text.contains("-> find the other machine, or give c0 another address"))
    }

    @Test func `the remedy warns before it deletes a route that may be a kill switch`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-4 rule add pref 70 not fwmark 0xca6c prohibit")
        let result = try await Explanation.of("203.0.113.9", in: uplink.namespace)
        #expect(
            result.lines.contains {
                $0.hasSuffix(
                    "-> rule 70 rejects the packets, and may be the kill switch of a VPN, which blocks packets outside the"
                        + " VPN: connect the VPN first; if no VPN is intended, delete it with `ip rule del priority 70"
                        + " not from all fwmark 0xca6c prohibit`, or exclude 203.0.113.9 from it"
                )
            },
            "\(result.text)"
        )
    }

    @Test func `the remedy of a bridge without a working port is to add one`() async throws {
        let namespace = try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip(
                "link add br0 type bridge",
                "link set br0 up",
                "link add p0 type veth peer name p1",
                "link set p0 master br0",
                "link set p0 up",
                "addr add 192.0.2.2/24 dev br0",
                "route add default via 192.0.2.1"
            )
            return namespace
        }
        let result = try await Explanation.of(nil, in: namespace)
        #expect(!result.isReachable)
        let remedy = "br0 has no carrier, because none of its ports has one: repair a port, or add one with"
        #expect(result.text.contains("-> \(remedy) `ip link set PORT master br0`"), "\(result.text)")
    }

    @Test(arguments: [
        (["rule add pref 50 lookup 77", "route add throw 203.0.113.0/24 table 77"], "throw", "203.0.113.0/24", 50),
        (
            ["rule add pref 50 fwmark 9 lookup 77", "route add default via 10.1.0.1 table 77"], "notAsked", "0.0.0.0/0",
            50
        ),
        (
            ["rule add pref 50 lookup 77 suppress_prefixlength 0", "route add default via 10.1.0.1 table 77"],
            "suppressed", "0.0.0.0/0", 50
        ),
        (["route add default via 10.1.0.1 table 77"], "notAsked", "0.0.0.0/0", nil),
    ])
    func `JSON contains the route that a lookup skipped`(
        commands: [String],
        cause: String,
        prefix: String,
        rule: Int?
    ) async throws {
        let topology = try await LabThread.detached { try Topology() }
        try await Self.run(["route del default"] + commands, in: topology.client)
        let result = try await Explanation.of(Self.four, in: topology.client)
        let passedOver = try #require(result.object["passedOver"] as? [String: Any], "\(result.object)")
        #expect(passedOver["cause"] as? String == cause)
        #expect((passedOver["route"] as? [String: Any])?["prefix"] as? String == prefix)
        #expect((passedOver["route"] as? [String: Any])?["table"] as? Int == 77)
        let named = passedOver[cause == "notAsked" ? "ruleForOthers" : "rule"] as? [String: Any]
        #expect(named?["priority"] as? Int == rule)
    }

    @Test func `a rule that suppresses short prefixes is named`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-4 rule add pref 70 lookup main suppress_prefixlength 0")
        let result = try await Explanation.of("192.0.2.9", in: uplink.namespace)
        #expect(result.lines.contains("ok      rule       70: from all lookup main suppress_prefixlength 0"))
        let rule = try #require(result.object["rule"] as? [String: Any])
        #expect(rule["suppressPrefixLength"] as? Int == 0)
    }

    @Test func `JSON contains the refusing route with its rule and table`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-4 route add blackhole 198.51.100.0/24 table 88", "-4 rule add pref 71 lookup 88")
        let object = try await Explanation.of("198.51.100.1", in: uplink.namespace).object
        let (rule, route) = (object["rule"] as? [String: Any], object["route"] as? [String: Any])
        #expect(rule?["priority"] as? Int == 71 && rule?["selector"] as? String == "from all")
        #expect(route?["type"] as? String == "blackhole" && route?["prefix"] as? String == "198.51.100.0/24")
        #expect(route?["table"] as? Int == 88)
    }

    @Test func `a link-local address is not reported as the source`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-6 addr del 2001:db8::2/64 dev u0", "-6 addr add fe80::2/64 dev u0 nodad")
        try await uplink.ip("-6 route replace default dev u0")
        let result = try await Explanation.of("2001:db8:9::9", in: uplink.namespace)
        #expect(result.lines.last == "broken  verdict    not reachable, no source address", "\(result.text)")
        #expect(result.object["source"] is NSNull, "\(result.object)")
    }
}
