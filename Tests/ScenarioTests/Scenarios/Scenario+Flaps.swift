import NetworkLab

extension Scenario {
    /// Changes that are faster than any reader can follow. Only the final state counts.
    static let flaps = [
        Scenario(
            name: "flap-off: 100 times switched on and off",
            change: "C 100x link set c0 up,link set c0 down",
            undo: upAgain,
            reached: ("g46", "", "g46"),
            mayFlip: true
        ),
        Scenario(
            name: "flap-on: 100 times switched off and on, with all routes",
            change: """
                C 100x link set c0 down,link set c0 up,route add default via 10.1.0.1
                \(addresses6); C route add default via fd01::1
                """,
            undo: "",
            reached: ("g46", "g46", "g46"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "flap-unplugged: 100 times plugged in and unplugged",
            change: "R 100x link set r0 up,link set r0 down",
            undo: plug,
            reached: ("g46", "", "g46"),
            mayFlip: true
        ),
        Scenario(
            name: "flap-plugged: 100 times unplugged and plugged in",
            change: "R 100x link set r0 down,link set r0 up; R addr add fd01::1/64 dev r0 nodad",
            undo: "",
            reached: ("g46", "g46", "g46"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "flap-routes: 100 times default routes deleted and added",
            change: "C 100x route del default,route add default via 10.1.0.1",
            undo: "C 100x route del ::/0,route add ::/0 via fd01::1",
            reached: ("g46", "g46", "g46"),
            mayFlip: true
        ),
        Scenario(
            name: "flap-routes-gone: 100 times a default route added and deleted",
            setup: "\(noIPv6); C route del default",
            change: "C 100x route add default via 10.1.0.1,route del default",
            undo: "C route add default via 10.1.0.1",
            reached: ("", "", "g4"),
            mayFlip: true
        ),
        Scenario(
            name: "flap-addresses: 100 times the address deleted and added",
            setup: noIPv6,
            change: "C 100x addr del 10.1.0.2/24 dev c0,addr add 10.1.0.2/24 dev c0",
            undo: "C route add default via 10.1.0.1",
            reached: ("g4", "", "g4"),
            mayFlip: true
        ),
        Scenario(
            name: "flap-rules: 100 times a rule that forbids all, added and deleted",
            setup: noIPv6,
            change: "C 100x rule add pref 100 prohibit,rule del pref 100; C rule add pref 100 prohibit",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4"),
            mayFlip: true
        ),
    ]
}

extension Scenario {
    /// Swaps in one burst. The state between two steps really existed, so the product may report it. A single step
    /// must not appear as two changes.
    static let swaps = [
        Scenario(
            name: "s1: both default routes replaced in one burst",
            uplinks: .two,
            change: "C route replace default via 10.2.0.1; C route replace default via fd02::1",
            undo: "C route replace default via 10.1.0.1; C route replace default via fd01::1",
            reached: ("g46", "g46", "g46"),
            alone: true
        ),
        Scenario(
            name: "s2: IPv4 default route deleted and added in one burst",
            uplinks: .two,
            setup: noIPv6,
            change: "C route del default; C route add default via 10.2.0.1",
            undo: "C route del default; C route add default via 10.1.0.1",
            reached: ("g4", "g4", "g4"),
            mayFlip: true,
            alone: true
        ),
        Scenario(
            name: "s2-ipv6: IPv6 default route deleted and added in one burst",
            uplinks: .two,
            setup: noIPv4,
            change: "C route del ::/0; C route add ::/0 via fd02::1",
            undo: "C route del ::/0; C route add ::/0 via fd01::1",
            reached: ("g6", "g6", "g6"),
            mayFlip: true,
            alone: true
        ),
        Scenario(
            name: "s3: default routes replaced 100 times",
            uplinks: .two,
            change: "C 50x route replace default via 10.2.0.1,route replace default via 10.1.0.1",
            undo: "C 50x route replace ::/0 via fd02::1,route replace ::/0 via fd01::1",
            reached: ("g46", "g46", "g46"),
            alone: true
        ),
        Scenario(
            name: "s4: address renewed in one burst",
            setup: noIPv6,
            change: """
                C addr del 10.1.0.2/24 dev c0; C addr add 10.1.0.5/24 dev c0
                C route add default via 10.1.0.1
                """,
            undo: """
                C addr del 10.1.0.5/24 dev c0; C addr add 10.1.0.2/24 dev c0
                C route add default via 10.1.0.1
                """,
            reached: ("g4", "g4", "g4"),
            mayFlip: true,
            alone: true
        ),
    ]
}

/// Scripts that several scenarios share.
extension Scenario {
    static let noIPv4 = "C addr del 10.1.0.2/24 dev c0"
    static let noIPv6 = "C sysctl net.ipv6.conf.c0.disable_ipv6=1"
    static let defaults = "C route add default via 10.1.0.1; C route add default via fd01::1"
    static let noDefaults = "C route del default; C -6 route del default"
    static let addresses6 = "C addr add fd01::2/64 dev c0 nodad"

    /// Restores `c0` after `link set c0 down`, which also removes its IPv6 addresses and all default routes.
    static let upAgain = "C link set c0 up; \(addresses6); \(defaults)"

    /// Disconnects and reconnects the cable of `c0` at the router.
    static let unplug = "R link set r0 down"
    static let plug = "R link set r0 up; R addr add fd01::1/64 dev r0 nodad"

    /// Creates the veth pair of `c0` again, with all addresses and routes.
    static let newPair = """
        C link add c0 address 02:00:00:00:01:02 type veth peer name r0 address 02:00:00:00:01:01 netns $R
        R link set r0 up; R addr add 10.1.0.1/24 dev r0; R addr add fd01::1/64 dev r0 nodad
        C link set c0 up; C addr add 10.1.0.2/24 dev c0; \(addresses6); \(defaults)
        """
}
