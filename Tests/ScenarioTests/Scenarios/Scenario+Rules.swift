import NetworkLab

extension Scenario {
    /// Policy rules for all packets.
    static let rules =
        ["prohibit", "unreachable", "blackhole"].flatMap { action in
            [
                Scenario(
                    name: "i4-\(action): \(action) rule for IPv4",
                    setup: noIPv6,
                    change: "C rule add pref 100 \(action)",
                    undo: "C rule del pref 100",
                    reached: ("g4", "", "g4")
                ),
                Scenario(
                    name: "i4-\(action)-ipv6: \(action) rule for IPv6",
                    setup: noIPv4,
                    change: "C -6 rule add pref 100 \(action)",
                    undo: "C -6 rule del pref 100",
                    reached: ("g6", "", "g6")
                ),
            ]
        } + [
            Scenario(
                name: "i5: rule that forbids our own user",
                setup: noIPv6,
                change: "C rule add pref 100 uidrange 0-0 prohibit",
                undo: "C rule del pref 100",
                reached: ("g4", "", "g4")
            ),
            Scenario(
                name: "i5-other: rule that forbids another user",
                setup: noIPv6,
                change: "C rule add pref 100 uidrange 1-1 prohibit",
                undo: "C rule del pref 100",
                reached: ("g4", "g4", "g4"),
                needs: [.otherUsers]
            ),
            Scenario(
                name: "x3-output: rule that forbids what this machine sends",
                setup: noIPv6,
                change: "C rule add pref 100 iif lo prohibit",
                undo: "C rule del pref 100",
                reached: ("g4", "", "g4")
            ),
            Scenario(
                name: "x3-device: rule for sockets bound to a device",
                change: "C rule add pref 100 oif c0 prohibit",
                undo: "C rule del pref 100",
                reached: ("g46", "g46", "g46")
            ),
            Scenario(
                name: "x3-destination: rules that forbid one network of each family",
                change:
                    "C rule add pref 100 to 203.0.113.0/24 prohibit; C -6 rule add pref 100 to fd77::/64 unreachable",
                undo: "C rule del pref 100; C -6 rule del pref 100",
                reached: ("g46", "g", "g46")
            ),
        ]

    /// Policy rules that select a table.
    static let tables = [
        Scenario(
            name: "i1: rule for marked packets",
            change: "C rule add fwmark 0x1 lookup 100; C -6 rule add fwmark 0x1 lookup 100",
            undo: "C rule del fwmark 0x1 lookup 100; C -6 rule del fwmark 0x1 lookup 100",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "i2: rule makes the table with the default route count",
            setup: "\(noDefaults); C route add default via 10.1.0.1 table 100",
            change: "C rule add pref 1000 lookup 100",
            undo: "C rule del pref 1000",
            reached: ("", "g4", "")
        ),
        Scenario(
            name: "i2-ipv6: rule makes the table with the IPv6 default route count",
            setup: "\(noDefaults); C route add ::/0 via fd01::1 table 100",
            change: "C -6 rule add pref 1000 lookup 100",
            undo: "C -6 rule del pref 1000",
            reached: ("", "g6", "")
        ),
        Scenario(
            name: "i2-host: rule sends one host to a table that refuses",
            setup: "C route add unreachable default table 100",
            change: "C rule add pref 1000 to 203.0.113.0/24 lookup 100",
            undo: "C rule del pref 1000",
            reached: ("g46", "g6", "g46")
        ),
        Scenario(
            name: "i6: rule of the main table deleted",
            setup: noIPv6,
            change: "C rule del pref 32766",
            undo: "C rule add pref 32766 lookup main",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "i7: default routes of the main table suppressed",
            setup: noIPv6,
            change: "C rule add pref 100 lookup main suppress_prefixlength 0; C rule del pref 32766",
            undo: "C rule add pref 32766 lookup main; C rule del pref 100",
            reached: ("g4a", "a", "g4a"),
            hosts: ["10.1.0.1"]
        ),
    ]
}

extension Scenario {
    /// Policy rules that select by the source address.
    static let sourceRules = [
        Scenario(
            name: "x2: rule that forbids our own IPv4 source",
            setup: noIPv6,
            change: "C rule add pref 100 from 10.1.0.2 prohibit",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "x2-ipv6: rule that forbids our own IPv6 source, which is not chosen yet at the time of the query",
            setup: noIPv4,
            change: "C -6 rule add pref 100 from fd01::2 prohibit",
            undo: "C -6 rule del pref 100",
            reached: ("g6", "g6", "g6")
        ),
        Scenario(
            name: "x2-table: rule that sends our own IPv4 source to a table that refuses",
            setup: "\(noIPv6); C route add unreachable default table 100",
            change: "C rule add pref 100 from 10.1.0.0/24 lookup 100",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "x2-uplink: rule that sends our own IPv4 source to a second uplink",
            uplinks: .two,
            setup: "\(noIPv6); C route add default via 10.2.0.1 table 100",
            change: "C rule add pref 100 from 10.1.0.2 lookup 100",
            undo: "C rule del pref 100",
            reached: ("g4", "g4", "g4")
        ),
        Scenario(
            name: "x2-dead: second uplink that a source rule uses is unplugged",
            uplinks: .two,
            setup: """
                \(noIPv6); C route add default via 10.2.0.1 table 100
                C rule add pref 100 from 10.1.0.2 lookup 100
                """,
            change: "R link set r1 down",
            undo: "R link set r1 up",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "x2-saved: unplugged uplink that a source rule avoids",
            uplinks: .two,
            setup: """
                \(noIPv6); C addr add 10.99.0.1/32 dev lo; R route add 10.99.0.1/32 via 10.2.0.2
                C route replace default via 10.1.0.1 src 10.99.0.1
                C route add default via 10.2.0.1 table 100; C rule add pref 100 from 10.99.0.1 lookup 100
                """,
            change: unplug,
            undo: plug,
            reached: ("g4", "g4", "g4"),
            quiet: .milliseconds(1300)
        ),
    ]
}

extension Scenario {
    /// Default routes on a client without a source address that other hosts can reply to.
    static let sources = [
        Scenario(
            name: "r3: default route with link-local addresses alone",
            setup: "\(noIPv4); C addr del fd01::2/64 dev c0; C -6 route del default",
            change: "C -6 route add default via fe80::ff:fe00:101 dev c0",
            undo: addresses6,
            reached: ("", "", "g6")
        ),
        Scenario(
            name: "r4: default route without any source address",
            setup: "\(noIPv6); \(noIPv4)",
            change: "C route add 10.1.0.1/32 dev c0; C route add default via 10.1.0.1 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0",
            reached: ("", "", "g4")
        ),
        Scenario(
            name: "r4-link: default route to the link without any source address",
            setup: "\(noIPv6); \(noIPv4)",
            change: "C route add default dev c0",
            undo: "C route del default; C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            reached: ("", "", "g4")
        ),
        Scenario(
            name: "r3-neighbour: neighbour on the link with a link-local source alone",
            setup: "\(noIPv4); C -6 route del default",
            change: "C route add fd01::/64 dev c0 metric 300; C addr del fd01::2/64 dev c0",
            undo: addresses6,
            reached: ("a", "a", "a"),
            hosts: ["fd01::1"]
        ),
        Scenario(
            name: "r3-gateway: the gateway itself, by its own route, with a link-local source alone",
            change: "C addr del fd01::2/64 dev c0",
            undo: addresses6,
            reached: ("g46a", "g4a", "g46a"),
            hosts: ["fd01::1"]
        ),
        Scenario(
            name: "r10: IPv4 link-local address alone, as without DHCP",
            setup: """
                \(noIPv6); \(noIPv4); R addr add 169.254.0.1/16 dev r0
                C route add 10.1.0.0/24 dev c0; C route add default via 10.1.0.1
                """,
            change: "C addr add 169.254.7.7/16 dev c0 scope link",
            undo: "C addr del 169.254.7.7/16 dev c0",
            reached: ("", "ab", ""),
            hosts: ["169.254.0.1", "10.1.0.1"]
        ),
        Scenario(
            name: "r11: an address of 169.254.0.0/16 with global scope, whose router leads everywhere",
            setup: "\(noIPv6); \(noIPv4); R addr add 169.254.129.1/24 dev r0",
            change: "C addr add 169.254.129.3/24 dev c0; C route add default via 169.254.129.1",
            undo: "C addr del 169.254.129.3/24 dev c0",
            reached: ("", "g4a", ""),
            hosts: ["169.254.129.1"]
        ),
        Scenario(
            name: "r12: an address of 169.254.0.0/16 with link scope that the route names as source",
            setup: "\(noIPv6); \(noIPv4); R addr add 169.254.129.1/24 dev r0",
            change: """
                C addr add 169.254.129.3/24 dev c0 scope link
                C route add default via 169.254.129.1 src 169.254.129.3
                """,
            undo: "C addr del 169.254.129.3/24 dev c0",
            reached: ("", "g4a", ""),
            hosts: ["169.254.129.1"]
        ),
    ]
}
