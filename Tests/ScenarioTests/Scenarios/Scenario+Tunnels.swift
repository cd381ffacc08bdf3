import NetworkLab

extension Scenario {
    /// Tunnels in addition to the uplink, and instead of it.
    static let tunnels = [
        Scenario(
            name: "x7: all traffic sent into a tunnel, as wg-quick does",
            setup: tunnel,
            change: intoTunnel,
            undo: outOfTunnel,
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "x7-unplugged: tunnel that takes all traffic loses its carrier",
            setup: "\(tunnel); \(intoTunnel)",
            change: "R link set wgp down",
            undo: "R link set wgp up; R addr add fd20::1/64 dev wgp nodad",
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "x7-off: tunnel that takes all traffic switched off, the uplink is left",
            setup: "\(tunnel); \(intoTunnel)",
            change: "C link set wg0 down",
            undo: """
                C link set wg0 up; C addr add fd20::2/64 dev wg0 nodad
                C route add default via 10.200.0.1 dev wg0 table 51820
                C -6 route add default via fd20::1 dev wg0 table 51820
                """,
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "r8: vxlan whose underlay is unplugged",
            setup: """
                R link add vxp type vxlan id 7 local 10.1.0.1 remote 10.1.0.2 dstport 4789
                R link set vxp up; R addr add 10.50.0.1/24 dev vxp
                C link add vx0 type vxlan id 7 local 10.1.0.2 remote 10.1.0.1 dstport 4789
                \(noIPv6); C link set vx0 up; C addr add 10.50.0.2/24 dev vx0
                C route replace default via 10.50.0.1
                """,
            change: unplug,
            undo: plug,
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r8-route: vxlan whose far end is left to the route through the vxlan itself",
            setup: """
                S link add vxp type vxlan id 7 local 10.3.0.2 remote 10.1.0.2 dstport 4789
                S link set vxp up; S addr add 10.50.0.1/24 dev vxp
                C link add vx0 type vxlan id 7 local 10.1.0.2 remote 10.3.0.2 dstport 4789
                \(noIPv6); C link set vx0 up; C addr add 10.50.0.2/24 dev vx0
                C route add 10.3.0.0/24 via 10.1.0.1; C route replace default via 10.50.0.1
                """,
            change: "C route del 10.3.0.0/24",
            undo: "C route add 10.3.0.0/24 via 10.1.0.1",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r8-source: vxlan whose own address is deleted",
            setup: """
                \(noIPv6); C addr add 10.1.0.9/24 dev c0
                R link add vxp type vxlan id 7 local 10.1.0.1 remote 10.1.0.9 dstport 4789
                R link set vxp up; R addr add 10.50.0.1/24 dev vxp
                C link add vx0 type vxlan id 7 local 10.1.0.9 remote 10.1.0.1 dstport 4789
                C link set vx0 up; C addr add 10.50.0.2/24 dev vx0; C route replace default via 10.50.0.1
                """,
            change: "C addr del 10.1.0.9/24 dev c0",
            undo: "C addr add 10.1.0.9/24 dev c0",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "r8-several: vxlan with two far ends in its forwarding table, unplugged",
            setup: """
                \(noIPv6); R link add vxp type vxlan id 7 local 10.1.0.1 remote 10.1.0.2 dstport 4789
                R link set vxp up; R addr add 10.50.0.1/24 dev vxp
                C link add vx0 type vxlan id 7 local 10.1.0.2 dstport 4789
                C bridge fdb append 00:00:00:00:00:00 dev vx0 dst 10.1.0.1
                C bridge fdb append 00:00:00:00:00:00 dev vx0 dst 10.1.0.77
                C link set vx0 up; C addr add 10.50.0.2/24 dev vx0; C route replace default via 10.50.0.1
                """,
            change: unplug,
            undo: plug,
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "p1: tunnel whose program goes away and comes back",
            setup: "\(noDefaults); \(cable("t0", 65534))",
            change: "C reader t0 off",
            undo: "C reader t0 on",
            reached: ("g46", "", "g46"),
            needs: [.tun]
        ),
        Scenario(
            name: "p1-carrier: tunnel whose program takes the carrier away",
            setup: "\(noDefaults); \(cable("t0", 65534))",
            change: "C carrier t0 off",
            undo: "C carrier t0 on",
            reached: ("g46", "", "g46"),
            needs: [.tun]
        ),
    ]

    /// Modem links, simulated with tun devices.
    static let modems = [
        Scenario(
            name: "p2: modem loses and finds the network",
            uplinks: .none,
            setup: cable("w0", 519),
            change: "C carrier w0 off",
            undo: "C carrier w0 on",
            reached: ("g46w", "", "g46w"),
            needs: [.tun]
        ),
        Scenario(
            name: "p2-reader: program of a point-to-point modem goes away and comes back",
            uplinks: .none,
            setup: cable("w0", 512),
            change: "C reader w0 off",
            undo: "C reader w0 on",
            reached: ("g46w", "", "g46w"),
            needs: [.tun]
        ),
        Scenario(
            name: "p3: from the cable to the modem and back",
            setup: cable("w0", 519, metric: 5000),
            change: "C link set c0 down",
            undo: upAgain,
            reached: ("g46", "g46w", "g46"),
            needs: [.tun]
        ),
        Scenario(
            name: "p4: default routes replaced, from the cable to the modem and back",
            setup: cable("w0", 519, metric: 5000),
            change: "C route add default dev w0 metric 1; \(noDefault0); C -6 route add default dev w0 metric 1",
            undo: "C route add default via 10.1.0.1; C route del default metric 1; C -6 route del default metric 1",
            reached: ("g46", "g46w", "g46"),
            needs: [.tun]
        ),
        Scenario(
            name: "p5: one host through the modem",
            setup: cable("w0", 519, metric: 5000),
            change: "C route add prohibit 203.0.113.7/32; C route add fd77::10/128 via fd01::1",
            undo: "C route del prohibit 203.0.113.7/32; C route del fd77::10/128",
            reached: ("g46", "g6", "g46"),
            needs: [.tun]
        ),
    ]

    private static let noDefault0 = "C route del default metric 0"

    /// A tun device to the router with addresses and default routes.
    private static func cable(_ name: String, _ type: Int, metric: Int = 10) -> String {
        """
        C tun \(name) \(type)
        R link set \(name)p up; R addr add 10.60.0.1/24 dev \(name)p; R addr add fd60::1/64 dev \(name)p nodad
        C link set \(name) up; C addr add 10.60.0.2/24 dev \(name); C addr add fd60::2/64 dev \(name) nodad
        C -4 route add default dev \(name) metric \(metric); C -6 route add default dev \(name) metric \(metric)
        """
    }

    private static let tunnel = """
        C link add wg0 type veth peer name wgp netns $R
        R link set wgp up; R addr add 10.200.0.1/24 dev wgp; R addr add fd20::1/64 dev wgp nodad
        C link set wg0 up; C addr add 10.200.0.2/24 dev wg0; C addr add fd20::2/64 dev wg0 nodad
        C route add default via 10.200.0.1 dev wg0 table 51820
        C -6 route add default via fd20::1 dev wg0 table 51820
        """

    private static let intoTunnel = ["-4", "-6"].map { family in
        """
        C \(family) rule add not fwmark 51820 table 51820
        C \(family) rule add table main suppress_prefixlength 0
        """
    }.joined(separator: "\n")

    private static let outOfTunnel = ["-4", "-6"].map { family in
        """
        C \(family) rule del table main suppress_prefixlength 0
        C \(family) rule del not fwmark 51820 table 51820
        """
    }.joined(separator: "\n")
}
