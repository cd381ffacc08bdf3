extension Scenario {
    /// Changes that come faster than anybody can follow; only where it ends counts.
    static let flaps = [
        Scenario(
            id: "flap-off",
            title: "100 times switched on and off",
            change: "C 100x link set c0 up,link set c0 down",
            undo: upAgain,
            after: "",
            mayFlip: true
        ),
        Scenario(
            id: "flap-on",
            title: "100 times switched off and on, with all routes",
            change: """
                C 100x link set c0 down,link set c0 up,route add default via 10.1.0.1
                \(addresses6); C route add default via fd01::1
                """,
            undo: "",
            after: "g46",
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "flap-unplugged",
            title: "100 times plugged in and unplugged",
            change: "R 100x link set r0 up,link set r0 down",
            undo: plug,
            after: "",
            mayFlip: true
        ),
        Scenario(
            id: "flap-plugged",
            title: "100 times unplugged and plugged in",
            change: "R 100x link set r0 down,link set r0 up; R addr add fd01::1/64 dev r0 nodad",
            undo: "",
            after: "g46",
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "flap-routes",
            title: "100 times default routes deleted and added",
            change: "C 100x route del default,route add default via 10.1.0.1",
            undo: "C 100x route del ::/0,route add ::/0 via fd01::1",
            after: "g46",
            mayFlip: true
        ),
        Scenario(
            id: "flap-routes-gone",
            title: "100 times a default route added and deleted",
            setup: "\(noIPv6); C route del default",
            change: "C 100x route add default via 10.1.0.1,route del default",
            undo: "C route add default via 10.1.0.1",
            before: "",
            after: "",
            back: "g4",
            mayFlip: true
        ),
        Scenario(
            id: "flap-addresses",
            title: "100 times the address deleted and added",
            setup: noIPv6,
            change: "C 100x addr del 10.1.0.2/24 dev c0,addr add 10.1.0.2/24 dev c0",
            undo: "C route add default via 10.1.0.1",
            before: "g4",
            after: "",
            back: "g4",
            mayFlip: true
        ),
        Scenario(
            id: "flap-rules",
            title: "100 times a rule that forbids all, added and deleted",
            setup: noIPv6,
            change: "C 100x rule add pref 100 prohibit,rule del pref 100; C rule add pref 100 prohibit",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4",
            mayFlip: true
        ),
    ]
}
