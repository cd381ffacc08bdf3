import NetworkLab

extension Scenario {
    /// Routes through next-hop objects.
    static let nextHops = [
        Scenario(
            name: "k1: IPv4 next hop deleted",
            setup: viaNextHop4,
            change: "C nexthop del id 1",
            undo: "C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "k1-replaced: IPv4 next hop moved to another uplink",
            uplinks: .two,
            setup: viaNextHop4,
            change: "C nexthop replace id 1 via 10.2.0.1 dev c1",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            reached: ("g4", "g4", "g4")
        ),
        Scenario(
            name: "k1-blackhole: IPv4 next hop becomes a black hole",
            setup: viaNextHop4,
            change: "C nexthop replace id 1 blackhole",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "k2: IPv6 next hop deleted",
            setup: viaNextHop6,
            change: "C nexthop del id 6",
            undo: "C nexthop add id 6 via fd01::1 dev c0; C -6 route add default nhid 6",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "k3: lost carrier takes the IPv4 next hop away",
            setup: viaNextHop4,
            change: "\(unplug); C none nexthop list",
            undo: plug,
            reached: ("g4a", "", "a"),
            hosts: ["10.1.0.1"]
        ),
        Scenario(
            name: "k3-again: IPv4 next hop made again after a lost carrier",
            setup: "\(viaNextHop4); \(unplug); C none nexthop list",
            change: "R link set r0 up; C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            undo: unplug,
            reached: ("", "g4", "")
        ),
        Scenario(
            name: "k3-off: switching off takes the IPv4 next hop away",
            setup: viaNextHop4,
            change: "C link set c0 down",
            undo: "C link set c0 up; C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "k6: lost carrier takes the IPv6 next hop away",
            setup: viaNextHop6,
            change: "\(unplug); C none nexthop list",
            undo: plug,
            reached: ("g6a", "", "a"),
            hosts: ["fd01::1"]
        ),
        Scenario(
            name: "k5: next hop moved where routes do not name it",
            uplinks: .two,
            setup: "C sysctl net.ipv4.nexthop_compat_mode=0; \(viaNextHop4)",
            change: "C nexthop replace id 1 via 10.2.0.1 dev c1",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            reached: ("g4", "g4", "g4")
        ),
        Scenario(
            name: "k5-blackhole: next hop becomes a black hole where routes do not name it",
            setup: "C sysctl net.ipv4.nexthop_compat_mode=0; \(viaNextHop4)",
            change: "C nexthop replace id 1 blackhole",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            reached: ("g4", "", "g4")
        ),
    ]

    static let viaNextHop4 = """
        \(noIPv6); C route del default
        C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1
        """

    static let viaNextHop6 = """
        \(noIPv4); C -6 route del default
        C nexthop add id 6 via fd01::1 dev c0; C -6 route add default nhid 6
        """
}

extension Scenario {
    /// Routes through groups of next hops.
    static let nextHopGroups = [
        Scenario(
            name: "k4: one next hop of a group deleted",
            uplinks: .two,
            setup: viaGroup4,
            change: "C nexthop del id 1",
            undo: "C nexthop del id 2",
            reached: ("g4", "g4", "")
        ),
        Scenario(
            name: "k4-blackhole: last next hop of a group becomes a black hole",
            uplinks: .two,
            setup: "\(viaGroup4); C nexthop del id 1",
            change: "C nexthop replace id 2 blackhole",
            undo: "C nexthop replace id 2 via 10.2.0.1 dev c1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "k7: a group loses one leg to a lost carrier, then the other",
            uplinks: .two,
            setup: viaGroup4,
            change: "\(unplug); C none nexthop list dev c0",
            undo: "R link set r1 down",
            reached: ("g4", "g4", ""),
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "k7-return: a group does not get back the leg it has lost",
            uplinks: .two,
            setup: "\(viaGroup4); \(unplug); C none nexthop list dev c0",
            change: plug,
            undo: "R link set r1 down",
            reached: ("g4", "g4", ""),
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "k8: an IPv6 group loses one leg to a lost carrier, then the other",
            uplinks: .two,
            setup: """
                \(noIPv4); C addr del 10.2.0.2/24 dev c1; C -6 route del default
                C nexthop add id 61 via fd01::1 dev c0; C nexthop add id 62 via fd02::1 dev c1
                C nexthop add id 60 group 61/62; C -6 route add default nhid 60
                """,
            change: "\(unplug); C none nexthop list dev c0",
            undo: "R link set r1 down",
            reached: ("g6", "g6", ""),
            quiet: .milliseconds(1300)
        ),
    ]

    private static let viaGroup4 = """
        \(noIPv6); C route del default
        C nexthop add id 1 via 10.1.0.1 dev c0; C nexthop add id 2 via 10.2.0.1 dev c1
        C nexthop add id 10 group 1/2; C route add default nhid 10
        """
}

extension Scenario {
    /// Routes with two next hops.
    static let multipath = [
        Scenario(
            name: "l1: one leg of an IPv4 route unplugged",
            uplinks: .two,
            setup: legs4,
            change: unplug,
            undo: plug,
            reached: ("g4", "?", "g4"),
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l1-hosts: one leg of an IPv4 route unplugged, for several hosts",
            uplinks: .two,
            setup: legs4,
            change: unplug,
            undo: plug,
            reached: ("g4abcd", "?", "g4abcd"),
            hosts: ["1.1.1.1", "8.8.8.8", "9.9.9.9", "10.77.0.10"],
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l1-late: routes without carrier are ignored after a leg was unplugged",
            uplinks: .two,
            setup: legs4,
            change: "\(unplug); C until DOWN link show c0; C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=1",
            undo: plug,
            reached: ("g4", "?", "g4"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l1-ignored: one leg of an IPv4 route unplugged where routes without carrier are ignored",
            uplinks: .two,
            setup: "\(legs4); C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=1",
            change: unplug,
            undo: plug,
            reached: ("g4", "g4", "g4"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l1-off: one leg of an IPv4 route switched off",
            uplinks: .two,
            setup: legs4,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            reached: ("g4", "g4", "g4")
        ),
        Scenario(
            name: "l1-both: both legs of an IPv4 route unplugged",
            uplinks: .two,
            setup: legs4,
            change: "\(unplug); R link set r1 down",
            undo: "\(plug); R link set r1 up",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "l1-gone: both legs of an IPv4 route switched off",
            uplinks: .two,
            setup: legs4,
            change: "C link set c0 down; C link set c1 down",
            undo: "C link set c1 up; C route add default via 10.2.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "l2: one leg of an IPv6 route unplugged",
            uplinks: .two,
            setup: "\(legs6); \(lastingNeighbour)",
            change: unplug,
            undo: plug,
            reached: ("g6", "?", "g6"),
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l2-hosts: one leg of an IPv6 route unplugged, for several hosts",
            uplinks: .two,
            setup: "\(legs6); \(lastingNeighbour)",
            change: unplug,
            undo: plug,
            reached: ("g6abcd", "?", "g6abcd"),
            hosts: ["2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2400:3200::1"],
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l2-ignored: one leg of an IPv6 route unplugged where routes without carrier are ignored",
            uplinks: .two,
            setup: "\(legs6); C sysctl net.ipv6.conf.all.ignore_routes_with_linkdown=1",
            change: unplug,
            undo: plug,
            reached: ("g6", "g6", "g6"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "l2-off: one leg of an IPv6 route switched off",
            uplinks: .two,
            setup: legs6,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            reached: ("g6", "g6", "g6")
        ),
        Scenario(
            name: "l2-both: both legs of an IPv6 route unplugged",
            uplinks: .two,
            setup: legs6,
            change: "\(unplug); R link set r1 down",
            undo: "\(plug); R link set r1 up; R addr add fd02::1/64 dev r1 nodad",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "l2-gone: both legs of an IPv6 route switched off",
            uplinks: .two,
            setup: legs6,
            change: "C link set c0 down; C link set c1 down",
            undo: "C link set c0 up; \(addresses6); C route add default via fd01::1",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "l3: a leg added to a route and taken away",
            uplinks: .two,
            setup: noIPv6,
            change: "C route replace default nexthop via 10.1.0.1 nexthop via 10.2.0.1",
            undo: "C route replace default via 10.2.0.1",
            reached: ("g4", "g4", "g4")
        ),
    ]

    private static let legs4 =
        "\(noIPv6); C route replace default nexthop via 10.1.0.1 nexthop via 10.2.0.1"

    /// IPv6 skips a router that neighbour discovery has not found within three seconds. A permanent neighbour entry
    /// prevents that.
    private static let lastingNeighbour =
        "C neigh replace fd01::1 lladdr 02:00:00:00:01:01 dev c0 nud permanent"

    private static let legs6 = """
        \(noIPv4); C addr del 10.2.0.2/24 dev c1; C -6 route del default
        C -6 route add default nexthop via fd01::1 nexthop via fd02::1
        """
}
