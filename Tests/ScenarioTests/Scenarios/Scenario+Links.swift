import NetworkLab

extension Scenario {
    /// Links that are set down and up.
    static let links = [
        Scenario(id: "a1", title: "uplink switched off and on", change: "C link set c0 down", undo: upAgain, after: ""),
        Scenario(
            id: "a1-gateway",
            title: "uplink switched on without default routes",
            uplinks: .one,
            setup: "C link set c0 down",
            change: "C link set c0 up; \(addresses6)",
            undo: "C link set c0 down",
            before: "",
            after: "ab",
            back: "",
            hosts: ["10.1.0.1", "fd01::1"]
        ),
        Scenario(
            id: "a2",
            title: "uplink with IPv4 alone switched off and on",
            setup: noIPv6,
            change: "C link set c0 down",
            undo: "C link set c0 up; C route add default via 10.1.0.1",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "a3",
            title: "uplink with IPv6 alone switched off and on",
            setup: noIPv4,
            change: "C link set c0 down",
            undo: "C link set c0 up; \(addresses6); C route add default via fd01::1",
            before: "g6",
            after: "",
            back: "g6"
        ),
        Scenario(
            id: "m9",
            title: "IPv6 addresses that survive the switching off",
            setup: "C sysctl net.ipv6.conf.c0.keep_addr_on_down=1; \(noIPv4)",
            change: "C link set c0 down",
            undo: "C link set c0 up; C route add default via fd01::1",
            before: "g6",
            after: "",
            back: "g6"
        ),
        Scenario(
            id: "r6",
            title: "loopback switched off and on",
            change: "C link set lo down",
            undo: "C link set lo up",
            after: "g46"
        ),
    ]

    /// Cables that are disconnected and reconnected. Addresses are static.
    static let carriers = [
        Scenario(id: "b1", title: "cable unplugged and plugged in", change: unplug, undo: plug, after: ""),
        Scenario(
            id: "b2",
            title: "cable of an uplink with IPv4 alone",
            setup: noIPv6,
            change: unplug,
            undo: plug,
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "b3",
            title: "cable of an uplink with IPv6 alone",
            setup: noIPv4,
            change: unplug,
            undo: plug,
            before: "g6",
            after: "",
            back: "g6"
        ),
        Scenario(
            id: "b4",
            title: "cable plugged in at last",
            setup: unplug,
            change: plug,
            undo: unplug,
            before: "",
            after: "g46",
            back: ""
        ),
        Scenario(
            id: "n2",
            title: "cable unplugged where routes without carrier are ignored",
            setup: ignoreLinkDown(true),
            change: unplug,
            undo: plug,
            after: ""
        ),
        Scenario(
            id: "n4",
            title: "cable unplugged, a second uplink waits in vain",
            uplinks: .two,
            setup: backup,
            change: unplug,
            undo: plug,
            after: ""
        ),
        Scenario(
            id: "n3",
            title: "cable unplugged, a second uplink takes over",
            uplinks: .two,
            setup: "\(backup); \(ignoreLinkDown(true))",
            change: unplug,
            undo: plug,
            after: "g46",
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "n1",
            title: "routes without carrier ignored by and by",
            uplinks: .two,
            setup: "\(backup); \(unplug)",
            change: ignoreLinkDown(true),
            undo: ignoreLinkDown(false),
            before: "",
            after: "g46",
            back: ""
        ),
        Scenario(
            id: "n1-ipv4",
            title: "IPv4 routes without carrier ignored by and by",
            uplinks: .two,
            setup: "\(backup); \(unplug)",
            change: "C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=1",
            undo: "C sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=0",
            before: "",
            after: "g4",
            back: ""
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
