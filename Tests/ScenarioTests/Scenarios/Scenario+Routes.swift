import NetworkLab

extension Scenario {
    /// Default routes that come and go.
    static let defaultRoutes = [
        Scenario(
            id: "d1",
            title: "both default routes deleted, the gateways stay in reach",
            change: noDefaults,
            undo: defaults,
            before: "g46ab",
            after: "ab",
            back: "g46ab",
            hosts: ["10.1.0.1", "fd01::1"]
        ),
        Scenario(
            id: "d1-ipv4",
            title: "IPv4 default route deleted",
            change: "C route del default",
            undo: "C route add default via 10.1.0.1 metric 100",
            after: "g6"
        ),
        Scenario(
            id: "d1-ipv6",
            title: "IPv6 default route deleted",
            change: "C -6 route del default",
            undo: "C -6 route add default via fd01::1 metric 50",
            after: "g4"
        ),
        Scenario(
            id: "d1-last",
            title: "last default route deleted",
            setup: noIPv6,
            change: "C route del default",
            undo: "C route add default via 10.1.0.1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "d2",
            title: "default routes replaced by such through another uplink",
            uplinks: .two,
            change: "C route replace default via 10.2.0.1; C route replace default via fd02::1",
            undo: "C route change default via 10.1.0.1; C route replace default via fd01::1",
            after: "g46"
        ),
        Scenario(
            id: "d2-metered",
            title: "default routes with another metric, the old ones deleted",
            change: """
                C route add default via 10.1.0.1 metric 50; C route del default metric 0
                C route add default via fd01::1 metric 50; C route del ::/0 metric 1024
                """,
            undo: """
                C route add default via 10.1.0.1 metric 10; C route del default metric 50
                C route add default via fd01::1 metric 10; C route del ::/0 metric 50
                """,
            after: "g46"
        ),
        Scenario(
            id: "d2-appended",
            title: "default routes appended",
            uplinks: .two,
            change: "C route append default via 10.2.0.1; C route append default via fd02::1",
            undo: "C route del default via 10.2.0.1; C route del ::/0 via fd02::1",
            after: "g46"
        ),
        Scenario(
            id: "d3",
            title: "all IPv6 default routes flushed",
            uplinks: .two,
            setup: "C route append default via fd02::1",
            change: "C -6 route flush default",
            undo: "C -6 route add default via fd01::1",
            after: "g4"
        ),
        Scenario(
            id: "e1",
            title: "main tables flushed",
            change: "C -4 route flush table main; C -6 route flush table main",
            undo: "C route add 10.1.0.0/24 dev c0 src 10.1.0.2; C route add fd01::/64 dev c0; \(defaults)",
            after: ""
        ),
        Scenario(
            id: "e2",
            title: "caches flushed",
            change: "C -4 route flush cache; C -6 route flush cache",
            undo: "",
            after: "g46"
        ),
        Scenario(
            id: "e3",
            title: "routes of the link deleted under living default routes",
            change: "C route del 10.1.0.0/24 dev c0; C route del fd01::/64 dev c0",
            undo: "C route add 10.1.0.0/24 dev c0 src 10.1.0.2; C route add fd01::/64 dev c0",
            after: "g46"
        ),
        Scenario(
            id: "r7",
            title: "IPv4 through an IPv6 next hop",
            setup: noDefaults,
            change: "C -4 route add default via inet6 fd01::1 dev c0",
            undo: "C route del default",
            before: "",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "r7-off",
            title: "uplink with IPv4 through an IPv6 next hop switched off",
            setup: "C route del default; C -4 route add default via inet6 fd01::1 dev c0",
            change: "C link set c0 down",
            undo: "C link set c0 up; \(addresses6); C -4 route add default via inet6 fd01::1 dev c0",
            after: "",
            back: "g4"
        ),
    ]
}
