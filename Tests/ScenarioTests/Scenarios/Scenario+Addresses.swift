extension Scenario {
    /// Addresses that are deleted and added.
    static let addresses = [
        Scenario(
            name: "c1: last IPv4 address deleted",
            change: "C addr del 10.1.0.2/24 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            reached: ("g46", "g6", "g46")
        ),
        Scenario(
            name: "c1-alone: last IPv4 address deleted where there is no IPv6",
            setup: noIPv6,
            change: "C addr del 10.1.0.2/24 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "c2: second address of another network deleted",
            setup: "C addr add 10.9.0.2/24 dev c0",
            change: "C addr del 10.9.0.2/24 dev c0",
            undo: "C addr add 10.9.0.2/24 dev c0",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "c3: last global IPv6 address deleted, default route stays",
            change: "C addr del fd01::2/64 dev c0",
            undo: addresses6,
            reached: ("g46", "g4", "g46")
        ),
        Scenario(
            name: "c3-alone: last global IPv6 address deleted where there is no IPv4",
            setup: noIPv4,
            change: "C addr del fd01::2/64 dev c0",
            undo: addresses6,
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "c4: all addresses flushed",
            change: "C addr flush dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0; \(addresses6); C route add default via 10.1.0.1",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "c5: address deleted that the default route prefers",
            setup: """
                \(noIPv6); C addr add 10.1.0.3/32 dev c0
                C route replace default via 10.1.0.1 src 10.1.0.3
                """,
            change: "C addr del 10.1.0.3/32 dev c0",
            undo: "C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r9: primary address deleted and its secondary with it",
            setup: "\(noIPv6); C addr add 10.1.0.3/24 dev c0",
            change: "C addr del 10.1.0.2/24 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r9-promoted: primary address deleted, its secondary promoted",
            setup: "\(noIPv6); C sysctl net.ipv4.conf.c0.promote_secondaries=1; C addr add 10.1.0.3/24 dev c0",
            change: "C addr del 10.1.0.2/24 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0",
            reached: ("g4", "g4", "g4")
        ),
        Scenario(
            name: "m8: IPv6 disabled and enabled on the uplink",
            change: noIPv6,
            undo: "C sysctl net.ipv6.conf.c0.disable_ipv6=0; \(addresses6); C route add default via fd01::1",
            reached: ("g46", "g4", "g46")
        ),
        Scenario(
            name: "m8-alone: IPv6 disabled everywhere where there is no IPv4",
            setup: noIPv4,
            change: "C sysctl net.ipv6.conf.all.disable_ipv6=1",
            undo: """
                C sysctl net.ipv6.conf.all.disable_ipv6=0
                \(addresses6); C route add default via fd01::1
                """,
            reached: ("g6", "", "g6")
        ),
    ]
}

extension Scenario {
    /// Addresses and routes with a limited lifetime.
    static let lifetimes = [
        Scenario(
            name: "m1: tentative address becomes usable",
            setup: "\(noIPv4); C addr del fd01::2/64 dev c0; C sysctl net.ipv6.conf.c0.accept_dad=1",
            change: "C addr add fd01::2/64 dev c0",
            undo: "C addr del fd01::2/64 dev c0",
            reached: ("", "g6", "")
        ),
        Scenario(
            name: "m1-neighbour: neighbour in reach while the address is tentative",
            setup: """
                \(noIPv4); C addr del fd01::2/64 dev c0; C -6 route del default
                C sysctl net.ipv6.conf.c0.accept_dad=1; C sysctl net.ipv6.conf.c0.dad_transmits=20
                """,
            change: "C addr add fd01::2/64 dev c0",
            undo: "C addr del fd01::2/64 dev c0",
            reached: ("", "a", ""),
            hosts: ["fd01::1"]
        ),
        Scenario(
            name: "m2: address that somebody else has",
            setup: """
                \(noIPv4); C addr del fd01::2/64 dev c0; C sysctl net.ipv6.conf.c0.accept_dad=1
                R addr add fd01::2/64 dev r0 nodad
                """,
            change: "C addr add fd01::2/64 dev c0",
            undo: "C addr del fd01::2/64 dev c0; R addr del fd01::2/64 dev r0; \(addresses6)",
            reached: ("", "", "g6"),
            quiet: .milliseconds(2500)
        ),
        Scenario(
            name: "m3: IPv6 address expires",
            setup: noIPv4,
            change: "C addr change fd01::2/64 dev c0 valid_lft 3 preferred_lft 1",
            undo: addresses6,
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "m3-deprecated: IPv6 address deprecated but used",
            setup: noIPv4,
            change: "C addr change fd01::2/64 dev c0 valid_lft 1000 preferred_lft 0",
            undo: "C addr change fd01::2/64 dev c0 valid_lft forever preferred_lft forever",
            reached: ("g6", "g6", "g6")
        ),
        Scenario(
            name: "m4: IPv4 address expires as without DHCP renewal",
            setup: noIPv6,
            change: "C addr change 10.1.0.2/24 dev c0 valid_lft 2 preferred_lft 2",
            undo: "C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "m5: IPv6 default route expires in silence",
            setup: noIPv4,
            change: "C route replace default via fd01::1 expires 3",
            undo: "C route replace default via fd01::1",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "m5-renewed: IPv6 default route about to expire is renewed",
            setup: "\(noIPv4); C route replace default via fd01::1 expires 60",
            change: "C route replace default via fd01::1 expires 4; C route replace default via fd01::1 expires 100",
            undo: "C route replace default via fd01::1",
            reached: ("g6", "g6", "g6"),
            quiet: .milliseconds(5000)
        ),
        Scenario(
            name: "m6: router advertises, then dies",
            setup: "\(noIPv4); C -6 route del default; C addr del fd01::2/64 dev c0",
            change: "R radvd 5",
            undo: "R radvd KILL",
            reached: ("", "g6", ""),
            needs: [.radvd]
        ),
        Scenario(
            name: "m7: router advertises, then advertises a lifetime of zero",
            setup: "\(noIPv4); C -6 route del default; C addr del fd01::2/64 dev c0",
            change: "R radvd 60",
            undo: "R radvd TERM",
            reached: ("", "g6", ""),
            needs: [.radvd]
        ),
    ]
}
