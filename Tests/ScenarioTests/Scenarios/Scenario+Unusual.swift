extension Scenario {
    /// Set-ups that are rare, and right.
    static let unusual = [
        Scenario(
            id: "v1",
            title: "single address and a gateway outside of it, as clouds do",
            setup: """
                C -6 route del default; C addr flush dev c0
                C addr add 10.1.0.2/32 dev c0; C addr add fd01::2/128 dev c0 nodad
                C route add default via 10.1.0.1 dev c0 onlink; C -6 route add default via fd01::1 dev c0 onlink
                """,
            change: "C link set c0 down",
            undo: """
                C link set c0 up; C addr add fd01::2/128 dev c0 nodad
                C route add default via 10.1.0.1 dev c0 onlink; C -6 route add default via fd01::1 dev c0 onlink
                """,
            after: ""
        ),
        Scenario(
            id: "v2",
            title: "addresses on the loopback device alone",
            setup: """
                C addr flush dev c0 scope global
                C addr add 10.99.0.1/32 dev lo; C addr add fd99::1/128 dev lo nodad
                C -6 route del default; C -6 route add default via fe80::ff:fe00:101 dev c0
                C route add default via 10.1.0.1 dev c0 onlink
                R route add 10.99.0.1/32 dev r0; R route add fd99::1/128 dev r0
                R -6 route replace fd99::1/128 via fe80::ff:fe00:102 dev r0
                """,
            change: "C addr del 10.99.0.1/32 dev lo; C addr del fd99::1/128 dev lo",
            undo: "C addr add 10.99.0.1/32 dev lo; C addr add fd99::1/128 dev lo nodad",
            after: ""
        ),
        Scenario(
            id: "v2-unplugged",
            title: "addresses on the loopback device alone, uplink unplugged",
            setup: """
                \(noIPv6); C addr flush dev c0; C addr add 10.99.0.1/32 dev lo
                C route add default via 10.1.0.1 dev c0 onlink; R route add 10.99.0.1/32 dev r0
                """,
            change: unplug,
            undo: "\(plug); R route add 10.99.0.1/32 dev r0",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "v3",
            title: "foreign hosts made local",
            change: "C route add local 203.0.113.7/32 dev lo; C -6 route add local fd77::10/128 dev lo",
            undo: "C route del local 203.0.113.7/32 dev lo; C -6 route del local fd77::10/128 dev lo",
            after: "g46"
        ),
        Scenario(
            id: "v3-off",
            title: "foreign hosts that are local while the uplink is switched off",
            setup: "C route add local 203.0.113.7/32 dev lo; C -6 route add local fd77::10/128 dev lo",
            change: "C link set c0 down",
            undo: upAgain,
            after: "46"
        ),
        Scenario(
            id: "v4",
            title: "a table that throws everything back to the main table",
            setup: "C route add throw default table 100; C -6 route add throw default table 100",
            change: "C rule add pref 100 lookup 100; C -6 rule add pref 100 lookup 100",
            undo: "C rule del pref 100; C -6 rule del pref 100",
            after: "g46"
        ),
        Scenario(
            id: "v5",
            title: "link-local router without any default route, and switched off",
            setup: noDefaults,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            before: "a",
            after: "",
            back: "a",
            hosts: ["fe80::ff:fe00:101%c0"]
        ),
        Scenario(
            id: "v5-unplugged",
            title: "link-local router, unplugged",
            change: unplug,
            undo: plug,
            before: "g46a",
            after: "",
            back: "g46a",
            hosts: ["fe80::ff:fe00:101%c0"]
        ),
        Scenario(
            id: "v6",
            title: "IPv4 default route that prefers the source of another device",
            setup: """
                \(noIPv6); C addr add 10.99.0.1/32 dev lo; R route add 10.99.0.1/32 via 10.1.0.2
                C route replace default via 10.1.0.1 src 10.99.0.1
                """,
            change: "C rule add pref 100 from 10.99.0.1 unreachable",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "v7",
            title: "a rule that skips the rule that forbids",
            setup: """
                \(noIPv6); C rule add pref 200 nop; C rule add pref 100 goto 200; C rule add pref 150 prohibit
                """,
            change: "C rule del pref 100",
            undo: "C rule add pref 100 goto 200",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "v8",
            title: "IPv6 unreachable default route beneath the real one",
            setup: "\(noIPv4); C -6 route add unreachable default metric 4000000",
            change: "C -6 route del default via fd01::1",
            undo: "C -6 route add default via fd01::1",
            before: "g6",
            after: "",
            back: "g6"
        ),
    ]
}
