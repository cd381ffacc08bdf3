extension Scenario {
    /// Routes without a source address that others can answer.
    static let sources = [
        Scenario(
            id: "r3",
            title: "default route with link-local addresses alone",
            setup: "\(noIPv4); C addr del fd01::2/64 dev c0; C -6 route del default",
            change: "C -6 route add default via fe80::ff:fe00:101 dev c0",
            undo: addresses6,
            before: "",
            after: "",
            back: "g6"
        ),
        Scenario(
            id: "r4",
            title: "default route without any source address",
            setup: "\(noIPv6); \(noIPv4)",
            change: "C route add 10.1.0.1/32 dev c0; C route add default via 10.1.0.1 dev c0",
            undo: "C addr add 10.1.0.2/24 dev c0",
            before: "",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "r4-link",
            title: "default route to the link without any source address",
            setup: "\(noIPv6); \(noIPv4)",
            change: "C route add default dev c0",
            undo: "C route del default; C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            before: "",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "r3-neighbour",
            title: "neighbour on the link with a link-local source alone",
            setup: "\(noIPv4); C -6 route del default",
            change: "C addr del fd01::2/64 dev c0; C route add fd01::/64 dev c0",
            undo: addresses6,
            before: "a",
            after: "a",
            back: "a",
            hosts: ["fd01::1"]
        ),
    ]
}
