import NetworkLab

extension Scenario {
    /// Default routes that are added and deleted.
    static let defaultRoutes = [
        Scenario(
            name: "d1: both default routes deleted, the gateways stay in reach",
            change: noDefaults,
            undo: defaults,
            reached: ("g46ab", "ab", "g46ab"),
            hosts: ["10.1.0.1", "fd01::1"]
        ),
        Scenario(
            name: "d1-ipv4: IPv4 default route deleted",
            change: "C route del default",
            undo: "C route add default via 10.1.0.1 metric 100",
            reached: ("g46", "g6", "g46")
        ),
        Scenario(
            name: "d1-ipv6: IPv6 default route deleted",
            change: "C -6 route del default",
            undo: "C -6 route add default via fd01::1 metric 50",
            reached: ("g46", "g4", "g46")
        ),
        Scenario(
            name: "d1-last: last default route deleted",
            setup: noIPv6,
            change: "C route del default",
            undo: "C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "d2: default routes replaced by such through another uplink",
            uplinks: .two,
            change: "C route replace default via 10.2.0.1; C route replace default via fd02::1",
            undo: "C route change default via 10.1.0.1; C route replace default via fd01::1",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "d2-metered: default routes with another metric, the old ones deleted",
            change: """
                C route add default via 10.1.0.1 metric 50; C route del default metric 0
                C route add default via fd01::1 metric 50; C route del ::/0 metric 1024
                """,
            undo: """
                C route add default via 10.1.0.1 metric 10; C route del default metric 50
                C route add default via fd01::1 metric 10; C route del ::/0 metric 50
                """,
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "d2-appended: default routes appended",
            uplinks: .two,
            change: "C route append default via 10.2.0.1; C route append default via fd02::1",
            undo: "C route del default via 10.2.0.1; C route del ::/0 via fd02::1",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "d3: all IPv6 default routes flushed",
            uplinks: .two,
            setup: "C route append default via fd02::1",
            change: "C -6 route flush default",
            undo: "C -6 route add default via fd01::1",
            reached: ("g46", "g4", "g46")
        ),
        Scenario(
            name: "e1: main tables flushed",
            change: "C -4 route flush table main; C -6 route flush table main",
            undo: "C route add 10.1.0.0/24 dev c0 src 10.1.0.2; C route add fd01::/64 dev c0; \(defaults)",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "e2: caches flushed",
            change: "C -4 route flush cache; C -6 route flush cache",
            undo: "",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "e3: routes of the link deleted under living default routes",
            change: "C route del 10.1.0.0/24 dev c0; C route del fd01::/64 dev c0",
            undo: "C route add 10.1.0.0/24 dev c0 src 10.1.0.2; C route add fd01::/64 dev c0",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "r7: IPv4 through an IPv6 next hop",
            setup: noDefaults,
            change: "C -4 route add default via inet6 fd01::1 dev c0",
            undo: "C route del default",
            reached: ("", "g4", "")
        ),
        Scenario(
            name: "r7-off: uplink with IPv4 through an IPv6 next hop switched off",
            setup: "C route del default; C -4 route add default via inet6 fd01::1 dev c0",
            change: "C link set c0 down",
            undo: "C link set c0 up; \(addresses6); C -4 route add default via inet6 fd01::1 dev c0",
            reached: ("g46", "", "g4")
        ),
    ]
}

extension Scenario {
    /// Routes to a part of the network.
    static let partialRoutes = [
        Scenario(
            name: "r1: IPv4 in two halves",
            setup: "\(noIPv6); C route del default",
            change: "C route add 0.0.0.0/1 via 10.1.0.1; C route add 128.0.0.0/1 via 10.1.0.1",
            undo: "C route del 0.0.0.0/1; C route del 128.0.0.0/1",
            reached: ("", "g4", "")
        ),
        Scenario(
            name: "r1-lower: only the lower half of IPv4",
            setup: noDefaults,
            change: "C route add 0.0.0.0/1 via 10.1.0.1",
            undo: "C route del 0.0.0.0/1",
            reached: ("", "a", ""),
            hosts: ["1.1.1.1"]
        ),
        Scenario(
            name: "r1-upper: only the upper half of IPv4",
            setup: noDefaults,
            change: "C route add 128.0.0.0/1 via 10.1.0.1",
            undo: "C route del 128.0.0.0/1",
            reached: ("", "4", "")
        ),
        Scenario(
            name: "r1-second: halves through a second uplink that is switched off",
            uplinks: .two,
            setup: """
                \(noIPv6); C route del default
                C route add 0.0.0.0/1 via 10.2.0.1; C route add 128.0.0.0/1 via 10.2.0.1
                """,
            change: "C link set c1 down",
            undo: "C link set c1 up; C route add 0.0.0.0/1 via 10.2.0.1; C route add 128.0.0.0/1 via 10.2.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r5: global IPv6 unicast without a default route",
            setup: noDefaults,
            change: "C route add 2000::/3 via fd01::1",
            undo: "C route del 2000::/3",
            reached: ("", "g", "")
        ),
        Scenario(
            name: "r2: one network, no default route",
            setup: noDefaults,
            change: "C route add 1.0.0.0/8 via 10.1.0.1",
            undo: "C route del 1.0.0.0/8",
            reached: ("", "a", ""),
            hosts: ["1.1.1.1"]
        ),
        Scenario(
            name: "x1: full table without a default route",
            setup: noDefaults,
            change: (1..<224).filter { $0 != 10 && $0 != 127 }
                .map { "C route add \($0).0.0.0/8 via 10.1.0.1 metric 7" }.joined(separator: ";"),
            undo: "C route flush metric 7",
            reached: ("", "g4", "")
        ),
        Scenario(
            name: "d4: route to one host of each family",
            setup: noDefaults,
            change: "C route add 203.0.113.7/32 via 10.1.0.1; C route add fd77::10/128 via fd01::1",
            undo: "C route del 203.0.113.7/32; C route del fd77::10/128",
            reached: ("", "46", "")
        ),
        Scenario(
            name: "d5: worse route to a host takes over when the better is deleted",
            uplinks: .two,
            setup: "C route add 203.0.113.0/24 via 10.2.0.1; C route add fd77::/64 via fd02::1",
            change: "C route del 203.0.113.0/24; C route del fd77::/64",
            undo: "C route add 203.0.113.0/24 via 10.2.0.1; C route add fd77::/64 via fd02::1",
            reached: ("g46", "g46", "g46")
        ),
    ]
}

extension Scenario {
    /// Routes that reject packets, and the destinations that stay reachable.
    static let refusals =
        ["blackhole", "unreachable", "prohibit", "throw"].flatMap { kind in
            [
                Scenario(
                    name: "j1-\(kind): \(kind) route better than the IPv4 default route",
                    setup: "\(noIPv6); C route del default; C route add default via 10.1.0.1 metric 100",
                    change: "C route add \(kind) default metric 10",
                    undo: "C route del \(kind) default metric 10",
                    reached: ("g4", "", "g4")
                ),
                Scenario(
                    name: "j2-\(kind): \(kind) route better than the IPv6 default route",
                    setup: noIPv4,
                    change: "C -6 route add \(kind) default metric 10",
                    undo: "C -6 route del \(kind) default metric 10",
                    reached: ("g6", "", "g6")
                ),
            ]
        } + [
            Scenario(
                name: "j3: routes that refuse one host of each family",
                change: "C route add prohibit 203.0.113.7/32; C -6 route add unreachable fd77::10/128",
                undo: "C route del prohibit 203.0.113.7/32; C -6 route del unreachable fd77::10/128",
                reached: ("g46", "g", "g46")
            ),
            Scenario(
                name: "j4: route that refuses a minority of the large network",
                setup: noIPv6,
                change: "C route add blackhole 1.0.0.0/8; C route add unreachable 8.0.0.0/7",
                undo: "C route del 1.0.0.0/8; C route del 8.0.0.0/7",
                reached: ("g4", "g4", "g4")
            ),
            Scenario(
                name: "j5: route that refuses half of the large network",
                setup: noIPv6,
                change: "C route add unreachable 0.0.0.0/1",
                undo: "C route del unreachable 0.0.0.0/1",
                reached: ("g4", "4", "g4")
            ),
        ]
}
