import NetworkLab

extension Scenario {
    /// Routes through groups of next hops.
    static let nextHopGroups = [
        Scenario(
            id: "k4",
            title: "one next hop of a group deleted",
            uplinks: .two,
            setup: viaGroup4,
            change: "C nexthop del id 1",
            undo: "C nexthop del id 2",
            before: "g4",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "k4-blackhole",
            title: "last next hop of a group becomes a black hole",
            uplinks: .two,
            setup: "\(viaGroup4); C nexthop del id 1",
            change: "C nexthop replace id 2 blackhole",
            undo: "C nexthop replace id 2 via 10.2.0.1 dev c1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "k7",
            title: "a group loses one leg to a lost carrier, then the other",
            uplinks: .two,
            setup: viaGroup4,
            change: "\(unplug); C none nexthop list dev c0",
            undo: "R link set r1 down",
            before: "g4",
            after: "g4",
            back: "",
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "k7-return",
            title: "a group does not get back the leg it has lost",
            uplinks: .two,
            setup: "\(viaGroup4); \(unplug); C none nexthop list dev c0",
            change: plug,
            undo: "R link set r1 down",
            before: "g4",
            after: "g4",
            back: "",
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "k8",
            title: "an IPv6 group loses one leg to a lost carrier, then the other",
            uplinks: .two,
            setup: """
                \(noIPv4); C addr del 10.2.0.2/24 dev c1; C -6 route del default
                C nexthop add id 61 via fd01::1 dev c0; C nexthop add id 62 via fd02::1 dev c1
                C nexthop add id 60 group 61/62; C -6 route add default nhid 60
                """,
            change: "\(unplug); C none nexthop list dev c0",
            undo: "R link set r1 down",
            before: "g6",
            after: "g6",
            back: "",
            quiet: .milliseconds(1300)
        ),
    ]

    private static let viaGroup4 = """
        \(noIPv6); C route del default
        C nexthop add id 1 via 10.1.0.1 dev c0; C nexthop add id 2 via 10.2.0.1 dev c1
        C nexthop add id 10 group 1/2; C route add default nhid 10
        """
}
