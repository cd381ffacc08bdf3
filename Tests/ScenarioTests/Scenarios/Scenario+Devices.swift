import NetworkLab

extension Scenario {
    /// Devices that are added, deleted, moved, renamed or otherwise changed.
    static let devices = [
        Scenario(
            name: "g1: device moved to another namespace and back",
            change: "C link set c0 netns $S",
            undo: "S link set c0 netns $C; C link set c0 up; C addr add 10.1.0.2/24 dev c0; \(addresses6); \(defaults)",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "h1: device deleted and made again",
            change: "C link del c0",
            undo: newPair,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "h2: device deleted from its far end and made again",
            change: "R link del r0",
            undo: newPair,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "f1: device renamed",
            change: "C link set c0 name wan0",
            undo: "C link set wan0 name c0",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "f2: device renamed, then unplugged",
            setup: "C link set c0 name wan0",
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "g2: uplink that appears after the start",
            uplinks: .none,
            change: "C link set c0 up; C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            undo: "C link set c0 down",
            reached: ("", "g4", "")
        ),
    ]

    /// Two uplinks, one of which fails.
    static let uplinkPairs = [
        Scenario(
            name: "n5: first uplink switched off, the second takes over",
            uplinks: .two,
            setup: backup,
            change: "C link set c0 down",
            undo: upAgain,
            reached: ("g46", "g46", "g46"),
            quiet: .milliseconds(1300)
        ),
        Scenario(
            name: "n6: both uplinks switched off",
            uplinks: .two,
            setup: backup,
            change: "C link set c0 down; C link set c1 down",
            undo: upAgain,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "n7: first uplink deleted, the second takes over",
            uplinks: .two,
            setup: backup,
            change: "C link del c0",
            undo: newPair,
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "n8: second uplink alone, unplugged",
            uplinks: .two,
            setup: "\(backup); C link set c0 down",
            change: "R link set r1 down",
            undo: "R link set r1 up; R addr add fd02::1/64 dev r1 nodad",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "n9: idle second uplink unplugged",
            uplinks: .two,
            setup: backup,
            change: "R link set r1 down",
            undo: "R link set r1 up; R addr add fd02::1/64 dev r1 nodad",
            reached: ("g46", "g46", "g46"),
            quiet: .milliseconds(1300)
        ),
    ]
}

extension Scenario {
    /// Devices stacked on other devices.
    static let stacked = [
        Scenario(
            name: "o1: bridge loses its only live port",
            setup: bridged,
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o1-released: bridge releases its only port",
            setup: bridged,
            change: "C link set c0 nomaster",
            undo: "C link set c0 master br0",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o1-off: bridge switched off and on",
            setup: bridged,
            change: "C link set br0 down",
            undo: "C link set br0 up; C addr add fd01::2/64 dev br0 nodad; \(defaults)",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o1-port-off: only port of a bridge switched off and on",
            setup: bridged,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o2: macvlan on an unplugged device",
            setup: macvlan,
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o2-off: macvlan on a device switched off and on",
            setup: macvlan,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o2-gone: macvlan deleted and made again",
            setup: macvlan,
            change: "C link del mv0",
            undo: macvlanAgain,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o3: bridge over a vxlan whose underlay is unplugged",
            setup: bridgedTunnel("10.1.0.1"),
            change: unplug,
            undo: plug,
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "o3-route: bridge over a vxlan whose far end has no route",
            setup: bridgedTunnel("10.1.0.1"),
            change: "C rule add pref 50 to 10.1.0.1 unreachable",
            undo: "C rule del pref 50",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "o4: default route moved to a macvlan over a device that discards packets, and back",
            setup: """
                C link add ifb9 type ifb; C link set ifb9 up; C link add mv9 link ifb9 type macvlan mode bridge
                C link set mv9 up; C addr add 10.9.9.2/24 dev mv9; C addr add fd99::2/64 dev mv9 nodad
                """,
            change: "\(noDefaults); C route add default via 10.9.9.1; C route add default via fd99::1",
            undo: "\(noDefaults); \(defaults)",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o5: bridge keeps a port that discards packets while the other is unplugged",
            setup: "\(bridged); C link add ifb9 type ifb; C link set ifb9 up; C link set ifb9 master br0",
            change: unplug,
            undo: plug,
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "o5-last: bridge is left with a port that discards packets",
            setup: "\(bridged); C link add ifb9 type ifb; C link set ifb9 up; C link set ifb9 master br0",
            change: "C link set c0 nomaster",
            undo: "C link set c0 master br0",
            reached: ("g46", "", "g46")
        ),
    ]

    /// The default route uses a bridge with a single port, a vxlan device to this remote address.
    private static func bridgedTunnel(_ end: String) -> String {
        """
        R link add vxp type vxlan id 7 local \(end) remote 10.1.0.2 dstport 4789
        R link set vxp up; R addr add 10.50.0.1/24 dev vxp
        C link add vx0 type vxlan id 7 local 10.1.0.2 remote \(end) dstport 4789
        C link add br0 type bridge; C link set vx0 master br0; C link set br0 up
        \(noIPv6); C link set vx0 up; C addr add 10.50.0.2/24 dev br0; C route replace default via 10.50.0.1
        """
    }

    private static let bridged = """
        C addr flush dev c0; C link add br0 type bridge; C link set c0 master br0; C link set br0 up
        C addr add 10.1.0.2/24 dev br0; C addr add fd01::2/64 dev br0 nodad
        C -6 route flush default; \(defaults)
        """

    private static let macvlan = "C addr flush dev c0; C -6 route flush default; \(macvlanAgain)"

    private static let macvlanAgain = """
        C link add mv0 link c0 type macvlan mode bridge; C link set mv0 up
        C addr add 10.1.0.2/24 dev mv0; C addr add fd01::2/64 dev mv0 nodad; \(defaults)
        """
}
