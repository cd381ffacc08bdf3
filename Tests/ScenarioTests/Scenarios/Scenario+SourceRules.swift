import NetworkLab

extension Scenario {
    /// Policy rules that look at the source.
    static let sourceRules = [
        Scenario(
            id: "x2",
            title: "rule that forbids our own IPv4 source",
            setup: noIPv6,
            change: "C rule add pref 100 from 10.1.0.2 prohibit",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "x2-ipv6",
            title: "rule that forbids our own IPv6 source, which nobody has chosen yet when it is asked",
            setup: noIPv4,
            change: "C -6 rule add pref 100 from fd01::2 prohibit",
            undo: "C -6 rule del pref 100",
            before: "g6",
            after: "g6",
            back: "g6"
        ),
        Scenario(
            id: "x2-table",
            title: "rule that sends our own IPv4 source to a table that refuses",
            setup: "\(noIPv6); C route add unreachable default table 100",
            change: "C rule add pref 100 from 10.1.0.0/24 lookup 100",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "x2-uplink",
            title: "rule that sends our own IPv4 source to a second uplink",
            uplinks: .two,
            setup: "\(noIPv6); C route add default via 10.2.0.1 table 100",
            change: "C rule add pref 100 from 10.1.0.2 lookup 100",
            undo: "C rule del pref 100",
            before: "g4",
            after: "g4",
            back: "g4"
        ),
        Scenario(
            id: "x2-dead",
            title: "second uplink that a source rule uses is unplugged",
            uplinks: .two,
            setup: """
                \(noIPv6); C route add default via 10.2.0.1 table 100
                C rule add pref 100 from 10.1.0.2 lookup 100
                """,
            change: "R link set r1 down",
            undo: "R link set r1 up",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "x2-saved",
            title: "unplugged uplink that a source rule avoids",
            uplinks: .two,
            setup: """
                \(noIPv6); C addr add 10.99.0.1/32 dev lo; R route add 10.99.0.1/32 via 10.2.0.2
                C route replace default via 10.1.0.1 src 10.99.0.1
                C route add default via 10.2.0.1 table 100; C rule add pref 100 from 10.99.0.1 lookup 100
                """,
            change: unplug,
            undo: plug,
            before: "g4",
            after: "g4",
            back: "g4",
            quiet: .milliseconds(1300)
        ),
    ]
}
