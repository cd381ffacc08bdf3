import NetworkLab

extension Scenario {
    /// Routes through next-hop objects.
    static let nextHops = [
        Scenario(
            id: "k1",
            title: "IPv4 next hop deleted",
            setup: viaNextHop4,
            change: "C nexthop del id 1",
            undo: "C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "k1-replaced",
            title: "IPv4 next hop moved to another uplink",
            uplinks: .two,
            setup: viaNextHop4,
            change: "C nexthop replace id 1 via 10.2.0.1 dev c1",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            before: "g4",
            after: "g4",
            back: "g4"
        ),
        Scenario(
            id: "k1-blackhole",
            title: "IPv4 next hop becomes a black hole",
            setup: viaNextHop4,
            change: "C nexthop replace id 1 blackhole",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "k2",
            title: "IPv6 next hop deleted",
            setup: viaNextHop6,
            change: "C nexthop del id 6",
            undo: "C nexthop add id 6 via fd01::1 dev c0; C -6 route add default nhid 6",
            before: "g6",
            after: "",
            back: "g6"
        ),
        Scenario(
            id: "k3",
            title: "lost carrier takes the IPv4 next hop away",
            setup: viaNextHop4,
            change: "\(unplug); C none nexthop list",
            undo: plug,
            before: "g4a",
            after: "",
            back: "a",
            hosts: ["10.1.0.1"]
        ),
        Scenario(
            id: "k3-again",
            title: "IPv4 next hop made again after a lost carrier",
            setup: "\(viaNextHop4); \(unplug); C none nexthop list",
            change: "R link set r0 up; C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            undo: unplug,
            before: "",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "k3-off",
            title: "switching off takes the IPv4 next hop away",
            setup: viaNextHop4,
            change: "C link set c0 down",
            undo: "C link set c0 up; C nexthop add id 1 via 10.1.0.1 dev c0; C route add default nhid 1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "k6",
            title: "lost carrier takes the IPv6 next hop away",
            setup: viaNextHop6,
            change: "\(unplug); C none nexthop list",
            undo: plug,
            before: "g6a",
            after: "",
            back: "a",
            hosts: ["fd01::1"]
        ),
        Scenario(
            id: "k5",
            title: "next hop moved where routes do not name it",
            uplinks: .two,
            setup: "C sysctl net.ipv4.nexthop_compat_mode=0; \(viaNextHop4)",
            change: "C nexthop replace id 1 via 10.2.0.1 dev c1",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            before: "g4",
            after: "g4",
            back: "g4"
        ),
        Scenario(
            id: "k5-blackhole",
            title: "next hop becomes a black hole where routes do not name it",
            setup: "C sysctl net.ipv4.nexthop_compat_mode=0; \(viaNextHop4)",
            change: "C nexthop replace id 1 blackhole",
            undo: "C nexthop replace id 1 via 10.1.0.1 dev c0",
            before: "g4",
            after: "",
            back: "g4"
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
