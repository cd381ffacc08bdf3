extension HonestyScenario {
    static let policies = [
        HonestyScenario(
            name: "i1: marks",
            preparation: defaults + ["route add default via 10.2.0.1 table 100"],
            commands: ["rule add fwmark 0x1 lookup 100", "rule del pref 32765"]
        ),
        HonestyScenario(
            name: "i2: a table of one's own",
            preparation: [],
            commands: [
                "route add default via 10.1.0.1 table 100", "rule add pref 1000 lookup 100", "rule del pref 1000",
            ]
        ),
        HonestyScenario(
            name: "i3: as wg-quick does it",
            commands: [
                "route add default dev c1 table 51820", "rule add not fwmark 51820 table 51820",
                "rule add table main suppress_prefixlength 0", "link set c1 down",
            ]
        ),
        HonestyScenario(
            name: "x7: as wg-quick does it for IPv6",
            commands: [
                "-6 route add default dev c1 table 51820", "-6 rule add not fwmark 51820 table 51820",
                "-6 rule add table main suppress_prefixlength 0", "link set c1 down",
            ]
        ),
        HonestyScenario(
            name: "i4: rules that refuse",
            commands: [
                "rule add pref 100 prohibit", "rule del pref 100", "rule add pref 100 unreachable", "rule del pref 100",
                "rule add pref 100 blackhole", "rule del pref 100", "-6 rule add pref 100 prohibit",
                "-6 rule del pref 100", "-6 rule add pref 100 unreachable", "-6 rule del pref 100",
                "-6 rule add pref 100 blackhole", "-6 rule del pref 100",
            ]
        ),
        HonestyScenario(
            name: "x2: rules by source",
            commands: [
                "rule add pref 100 from 10.1.0.2 prohibit", "rule del pref 100",
                "-6 rule add pref 100 from fd01::2 prohibit", "-6 rule del pref 100",
            ]
        ),
        HonestyScenario(
            name: "x3: rules by destination",
            commands: ["rule add pref 100 to 1.0.0.0/8 prohibit", "-6 rule add pref 100 to 2000::/3 blackhole"]
        ),
        HonestyScenario(
            name: "local routes beside main ones",
            commands: [
                "route add 127.3.0.0/16 via 10.1.0.1", "rule add pref 900 to 9.9.9.9 prohibit", "rule del pref 900",
                "route add local 10.77.0.0/16 dev c0 table local",
            ]
        ),
    ]

    static let neighbours = [
        HonestyScenario(
            name: "neighbours, and a carrier that goes",
            commands: [
                "neigh add 10.1.0.1 lladdr 02:00:00:00:00:99 dev c0 nud stale",
                "neigh add 10.1.0.9 lladdr 02:00:00:00:00:99 dev c0 nud permanent",
                "neigh add fd01::1 lladdr 02:00:00:00:00:99 dev c0 nud reachable",
                "neigh add 10.2.0.1 lladdr 02:00:00:00:00:99 dev c1 nud noarp", "cable r0 down",
                "neigh del 10.1.0.9 dev c0", "cable r0 up",
            ]
        ),
        HonestyScenario(
            name: "neighbours, and a link that is set down",
            commands: [
                "neigh add 10.1.0.9 lladdr 02:00:00:00:00:99 dev c0 nud permanent",
                "neigh add 10.2.0.1 lladdr 02:00:00:00:00:99 dev c1 nud stale", "link set c0 down", "link del c1",
            ]
        ),
    ]

    static let objects = [
        HonestyScenario(
            name: "k1: a next hop object",
            preparation: [],
            commands: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1",
                "nexthop replace id 1 via 10.2.0.1 dev c1", "nexthop del id 1",
            ]
        ),
        HonestyScenario(
            name: "k2: an IPv6 next hop object",
            preparation: [],
            commands: ["nexthop add id 6 via fd01::1 dev c0", "-6 route add default nhid 6", "nexthop del id 6"]
        ),
        HonestyScenario(
            name: "k3: an object without a carrier",
            preparation: ["nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1"],
            commands: ["cable r0 down", "cable r0 up"]
        ),
        HonestyScenario(
            name: "k4: a group",
            preparation: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "nexthop add id 2 via 10.2.0.1 dev c1",
                "nexthop add id 10 group 1/2", "route add default nhid 10",
            ],
            commands: ["nexthop del id 1", "nexthop replace id 2 blackhole", "nexthop del id 2"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "k6: IPv6 objects without a carrier",
            preparation: ["nexthop add id 6 via fd01::1 dev c0", "-6 route add default nhid 6"],
            commands: ["cable r0 down", "cable r0 up"]
        ),
        HonestyScenario(
            name: "k7: a group that loses a carrier",
            preparation: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "nexthop add id 2 via 10.2.0.1 dev c1",
                "nexthop add id 10 group 1/2", "route add default nhid 10",
            ],
            commands: ["cable r0 down", "cable r0 up", "cable r1 down"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "k8: an object outlives an address",
            preparation: ["nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1"],
            commands: ["addr del 10.1.0.2/24 dev c0", "link set c0 down"]
        ),
    ]

    static let multipath = [
        HonestyScenario(
            name: "l1: hops of an IPv4 route",
            preparation: ["route add default nexthop via 10.1.0.1 dev c0 nexthop via 10.2.0.1 dev c1"],
            commands: [
                "link set c0 down", "link set c0 up", "addr del 10.1.0.2/24 dev c0", "addr add 10.1.0.2/24 dev c0",
                "link set c1 down", "link set c0 down",
            ],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "l2: hops of an IPv6 route",
            preparation: ["-6 route add default nexthop via fd01::1 dev c0 nexthop via fd02::1 dev c1"],
            commands: ["cable r0 down", "cable r0 up", "link set c0 down", "link set c1 down"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "l3: a hop's link is removed",
            preparation: [
                "route add default nexthop via 10.1.0.1 dev c0 nexthop via 10.2.0.1 dev c1",
                "-6 route add default nexthop via fd01::1 dev c0 nexthop via fd02::1 dev c1",
            ],
            commands: ["link del c0"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "d3: hops appended",
            preparation: ["-6 route add default via fd02::1"],
            commands: ["-6 route append default via fd01::1", "-6 route del default via fd02::1"],
            comparesEntriesOnly: true
        ),
    ]
}
