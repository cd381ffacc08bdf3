import NetworkLab

extension Scenario {
    /// Swaps in one burst: what lies between two steps may be seen, and was so; of one step nothing is to be seen.
    static let swaps = [
        Scenario(
            id: "s1",
            title: "both default routes replaced in one burst",
            uplinks: .two,
            change: "C route replace default via 10.2.0.1; C route replace default via fd02::1",
            undo: "C route replace default via 10.1.0.1; C route replace default via fd01::1",
            after: "g46",
            alone: true
        ),
        Scenario(
            id: "s2",
            title: "IPv4 default route deleted and added in one burst",
            uplinks: .two,
            setup: noIPv6,
            change: "C route del default; C route add default via 10.2.0.1",
            undo: "C route del default; C route add default via 10.1.0.1",
            before: "g4",
            after: "g4",
            back: "g4",
            mayFlip: true,
            alone: true
        ),
        Scenario(
            id: "s2-ipv6",
            title: "IPv6 default route deleted and added in one burst",
            uplinks: .two,
            setup: noIPv4,
            change: "C route del ::/0; C route add ::/0 via fd02::1",
            undo: "C route del ::/0; C route add ::/0 via fd01::1",
            before: "g6",
            after: "g6",
            back: "g6",
            mayFlip: true,
            alone: true
        ),
        Scenario(
            id: "s3",
            title: "default routes replaced 100 times",
            uplinks: .two,
            change: "C 50x route replace default via 10.2.0.1,route replace default via 10.1.0.1",
            undo: "C 50x route replace ::/0 via fd02::1,route replace ::/0 via fd01::1",
            after: "g46",
            alone: true
        ),
        Scenario(
            id: "s4",
            title: "address renewed in one burst",
            setup: noIPv6,
            change: """
                C addr del 10.1.0.2/24 dev c0; C addr add 10.1.0.5/24 dev c0
                C route add default via 10.1.0.1
                """,
            undo: """
                C addr del 10.1.0.5/24 dev c0; C addr add 10.1.0.2/24 dev c0
                C route add default via 10.1.0.1
                """,
            before: "g4",
            after: "g4",
            back: "g4",
            mayFlip: true,
            alone: true
        ),
    ]
}
