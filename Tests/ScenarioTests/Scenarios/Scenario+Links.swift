import NetworkLab

extension Scenario {
    /// Links that are set down and up.
    static let links = [
        Scenario(
            name: "a1: uplink switched off and on",
            change: "C link set c0 down",
            undo: upAgain,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "a1-gateway: uplink switched on without default routes",
            uplinks: .one,
            setup: "C link set c0 down",
            change: "C link set c0 up; \(addresses6)",
            undo: "C link set c0 down",
            reached: ("", "ab", ""),
            hosts: ["10.1.0.1", "fd01::1"]
        ),
        Scenario(
            name: "a2: uplink with IPv4 alone switched off and on",
            setup: noIPv6,
            change: "C link set c0 down",
            undo: "C link set c0 up; C route add default via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "a3: uplink with IPv6 alone switched off and on",
            setup: noIPv4,
            change: "C link set c0 down",
            undo: "C link set c0 up; \(addresses6); C route add default via fd01::1",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "m9: IPv6 addresses that survive the switching off",
            setup: "C sysctl net.ipv6.conf.c0.keep_addr_on_down=1; \(noIPv4)",
            change: "C link set c0 down",
            undo: "C link set c0 up; C route add default via fd01::1",
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "r6: loopback switched off and on",
            change: "C link set lo down",
            undo: "C link set lo up",
            reached: ("g46", "g46", "g46")
        ),
    ]

    /// Cables that are disconnected and reconnected. Addresses are static.
    static let carriers = [
        Scenario(name: "b1: cable unplugged and plugged in", change: unplug, undo: plug, reached: ("g46", "", "g46")),
        Scenario(
            name: "b2: cable of an uplink with IPv4 alone",
            setup: noIPv6,
            change: unplug,
            undo: plug,
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "b3: cable of an uplink with IPv6 alone",
            setup: noIPv4,
            change: unplug,
            undo: plug,
            reached: ("g6", "", "g6")
        ),
        Scenario(
            name: "b4: cable plugged in at last",
            setup: unplug,
            change: plug,
            undo: unplug,
            reached: ("", "g46", "")
        ),
        Scenario(
            name: "n2: cable unplugged where routes without carrier are ignored",
            setup: ignoreLinkDown(true),
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "n4: cable unplugged, a second uplink waits in vain",
            uplinks: .two,
            setup: backup,
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "n3: cable unplugged, a second uplink takes over",
            uplinks: .two,
            setup: "\(backup); \(ignoreLinkDown(true))",
            change: unplug,
            undo: plug,
            reached: ("g46", "g46", "g46"),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "n1: routes without carrier ignored by and by",
            uplinks: .two,
            setup: "\(backup); \(unplug)",
            change: ignoreLinkDown(true),
            undo: ignoreLinkDown(false),
            reached: ("", "g46", "")
        ),
        Scenario(
            name: "n1-ipv4: IPv4 routes without carrier ignored by and by",
            uplinks: .two,
            setup: "\(backup); \(unplug)",
            change: "C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=1",
            undo: "C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=0",
            reached: ("", "g4", "")
        ),
    ]

    /// Default routes through `c1` with a higher metric than those through `c0`. IPv6 also uses them when neighbour
    /// discovery for the better router has failed (`rt6_check_neigh`), by default three seconds after the first
    /// packet. `mcast_solicit` delays that beyond the end of a scenario.
    static let backup = """
        C route add default via 10.2.0.1 metric 2000; C route add default via fd02::1 metric 2000; \
        C sysctl net.ipv6.neigh.c0.mcast_solicit=300
        """

    private static func ignoreLinkDown(_ ignored: Bool) -> String {
        ["ipv4", "ipv6"]
            .map { "C sysctl net.\($0).conf.all.ignore_routes_with_linkdown=\(ignored ? 1 : 0)" }
            .joined(separator: ";")
    }
}
