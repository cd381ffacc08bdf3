extension Scenario {
    /// Routes that refuse, and what they leave.
    static let refusals =
        ["blackhole", "unreachable", "prohibit", "throw"].flatMap { kind in
            [
                Scenario(
                    id: "j1-\(kind)",
                    title: "\(kind) route better than the IPv4 default route",
                    setup: "\(noIPv6); C route del default; C route add default via 10.1.0.1 metric 100",
                    change: "C route add \(kind) default metric 10",
                    undo: "C route del \(kind) default metric 10",
                    before: "g4",
                    after: "",
                    back: "g4"
                ),
                Scenario(
                    id: "j2-\(kind)",
                    title: "\(kind) route better than the IPv6 default route",
                    setup: noIPv4,
                    change: "C -6 route add \(kind) default metric 10",
                    undo: "C -6 route del \(kind) default metric 10",
                    before: "g6",
                    after: "",
                    back: "g6"
                ),
            ]
        } + [
            Scenario(
                id: "j3",
                title: "routes that refuse one host of each family",
                change: "C route add prohibit 203.0.113.7/32; C -6 route add unreachable fd77::10/128",
                undo: "C route del prohibit 203.0.113.7/32; C -6 route del unreachable fd77::10/128",
                after: "g"
            ),
            Scenario(
                id: "j4",
                title: "route that refuses a minority of the large network",
                setup: noIPv6,
                change: "C route add blackhole 1.0.0.0/8; C route add unreachable 8.0.0.0/7",
                undo: "C route del 1.0.0.0/8; C route del 8.0.0.0/7",
                before: "g4",
                after: "g4",
                back: "g4"
            ),
            Scenario(
                id: "j5",
                title: "route that refuses half of the large network",
                setup: noIPv6,
                change: "C route add unreachable 0.0.0.0/1",
                undo: "C route del unreachable 0.0.0.0/1",
                before: "g4",
                after: "4",
                back: "g4"
            ),
        ]
}
