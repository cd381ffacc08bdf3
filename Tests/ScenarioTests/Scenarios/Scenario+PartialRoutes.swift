import NetworkLab

extension Scenario {
    /// Routes to a part of the network.
    static let partialRoutes = [
        Scenario(
            id: "r1",
            title: "IPv4 in two halves",
            setup: "\(noIPv6); C route del default",
            change: "C route add 0.0.0.0/1 via 10.1.0.1; C route add 128.0.0.0/1 via 10.1.0.1",
            undo: "C route del 0.0.0.0/1; C route del 128.0.0.0/1",
            before: "",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "r1-lower",
            title: "only the lower half of IPv4",
            setup: noDefaults,
            change: "C route add 0.0.0.0/1 via 10.1.0.1",
            undo: "C route del 0.0.0.0/1",
            before: "",
            after: "a",
            back: "",
            hosts: ["1.1.1.1"]
        ),
        Scenario(
            id: "r1-upper",
            title: "only the upper half of IPv4",
            setup: noDefaults,
            change: "C route add 128.0.0.0/1 via 10.1.0.1",
            undo: "C route del 128.0.0.0/1",
            before: "",
            after: "4",
            back: ""
        ),
        Scenario(
            id: "r1-second",
            title: "halves through a second uplink that is switched off",
            uplinks: .two,
            setup: """
                \(noIPv6); C route del default
                C route add 0.0.0.0/1 via 10.2.0.1; C route add 128.0.0.0/1 via 10.2.0.1
                """,
            change: "C link set c1 down",
            undo: "C link set c1 up; C route add 0.0.0.0/1 via 10.2.0.1; C route add 128.0.0.0/1 via 10.2.0.1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "r5",
            title: "global IPv6 unicast without a default route",
            setup: noDefaults,
            change: "C route add 2000::/3 via fd01::1",
            undo: "C route del 2000::/3",
            before: "",
            after: "g",
            back: ""
        ),
        Scenario(
            id: "r2",
            title: "one network, no default route",
            setup: noDefaults,
            change: "C route add 1.0.0.0/8 via 10.1.0.1",
            undo: "C route del 1.0.0.0/8",
            before: "",
            after: "a",
            back: "",
            hosts: ["1.1.1.1"]
        ),
        Scenario(
            id: "x1",
            title: "full table without a default route",
            setup: noDefaults,
            change: (1..<224).filter { $0 != 10 && $0 != 127 }
                .map { "C route add \($0).0.0.0/8 via 10.1.0.1 metric 7" }.joined(separator: ";"),
            undo: "C route flush metric 7",
            before: "",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "d4",
            title: "route to one host of each family",
            setup: noDefaults,
            change: "C route add 203.0.113.7/32 via 10.1.0.1; C route add fd77::10/128 via fd01::1",
            undo: "C route del 203.0.113.7/32; C route del fd77::10/128",
            before: "",
            after: "46",
            back: ""
        ),
        Scenario(
            id: "d5",
            title: "worse route to a host takes over when the better is deleted",
            uplinks: .two,
            setup: "C route add 203.0.113.0/24 via 10.2.0.1; C route add fd77::/64 via fd02::1",
            change: "C route del 203.0.113.0/24; C route del fd77::/64",
            undo: "C route add 203.0.113.0/24 via 10.2.0.1; C route add fd77::/64 via fd02::1",
            after: "g46"
        ),
    ]
}
