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
            change: "C route add fd01::/64 dev c0 metric 300; C addr del fd01::2/64 dev c0",
            undo: addresses6,
            before: "a",
            after: "a",
            back: "a",
            hosts: ["fd01::1"]
        ),
        Scenario(
            id: "r3-gateway",
            title: "the gateway itself, by its own route, with a link-local source alone",
            change: "C addr del fd01::2/64 dev c0",
            undo: addresses6,
            before: "g46a",
            after: "g4a",
            back: "g46a",
            hosts: ["fd01::1"]
        ),
        Scenario(
            id: "r10",
            title: "IPv4 link-local address alone, as without DHCP",
            setup: """
                \(noIPv6); \(noIPv4); R addr add 169.254.0.1/16 dev r0
                C route add 10.1.0.0/24 dev c0; C route add default via 10.1.0.1
                """,
            change: "C addr add 169.254.7.7/16 dev c0 scope link",
            undo: "C addr del 169.254.7.7/16 dev c0",
            before: "",
            after: "ab",
            back: "",
            hosts: ["169.254.0.1", "10.1.0.1"]
        ),
        Scenario(
            id: "r11",
            title: "an address of 169.254.0.0/16 with global scope, whose router leads everywhere",
            setup: "\(noIPv6); \(noIPv4); R addr add 169.254.129.1/24 dev r0",
            change: "C addr add 169.254.129.3/24 dev c0; C route add default via 169.254.129.1",
            undo: "C addr del 169.254.129.3/24 dev c0",
            before: "",
            after: "g4a",
            back: "",
            hosts: ["169.254.129.1"]
        ),
    ]
}
