import NetworkLab

extension Scenario {
    /// Rare but valid configurations.
    static let unusual = [
        Scenario(
            name: "v1: single address and a gateway outside of it, as clouds do",
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
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "v2: addresses on the loopback device alone",
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
            reached: ("g46", "", "g46")
        ),
        Scenario(
            name: "v2-unplugged: addresses on the loopback device alone, uplink unplugged",
            setup: """
                \(noIPv6); C addr flush dev c0; C addr add 10.99.0.1/32 dev lo
                C route add default via 10.1.0.1 dev c0 onlink; R route add 10.99.0.1/32 dev r0
                """,
            change: unplug,
            undo: "\(plug); R route add 10.99.0.1/32 dev r0",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "v3: foreign hosts made local",
            change: "C route add local 203.0.113.7/32 dev lo; C -6 route add local fd77::10/128 dev lo",
            undo: "C route del local 203.0.113.7/32 dev lo; C -6 route del local fd77::10/128 dev lo",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "v3-off: foreign hosts that are local while the uplink is switched off",
            setup: "C route add local 203.0.113.7/32 dev lo; C -6 route add local fd77::10/128 dev lo",
            change: "C link set c0 down",
            undo: upAgain,
            reached: ("g46", "46", "g46")
        ),
        Scenario(
            name: "v4: a table that throws everything back to the main table",
            setup: "C route add throw default table 100; C -6 route add throw default table 100",
            change: "C rule add pref 100 lookup 100; C -6 rule add pref 100 lookup 100",
            undo: "C rule del pref 100; C -6 rule del pref 100",
            reached: ("g46", "g46", "g46")
        ),
        Scenario(
            name: "v5: link-local router without any default route, and switched off",
            setup: noDefaults,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            reached: ("a", "", "a"),
            hosts: ["fe80::ff:fe00:101%c0"]
        ),
        Scenario(
            name: "v5-unplugged: link-local router, unplugged",
            change: unplug,
            undo: plug,
            reached: ("g46a", "", "g46a"),
            hosts: ["fe80::ff:fe00:101%c0"]
        ),
        Scenario(
            name: "v6: IPv4 default route that prefers the source of another device",
            setup: """
                \(noIPv6); C addr add 10.99.0.1/32 dev lo; R route add 10.99.0.1/32 via 10.1.0.2
                C route replace default via 10.1.0.1 src 10.99.0.1
                """,
            change: "C rule add pref 100 from 10.99.0.1 unreachable",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "v7: a rule that skips the rule that forbids",
            setup: """
                \(noIPv6); C rule add pref 200 nop; C rule add pref 100 goto 200; C rule add pref 150 prohibit
                """,
            change: "C rule del pref 100",
            undo: "C rule add pref 100 goto 200",
            reached: ("g4", "", "g4")
        ),
        Scenario(
            name: "v8: IPv6 unreachable default route beneath the real one",
            setup: "\(noIPv4); C -6 route add unreachable default metric 4000000",
            change: "C -6 route del default via fd01::1",
            undo: "C -6 route add default via fd01::1",
            reached: ("g6", "", "g6")
        ),
    ]
}

extension Scenario {
    /// Addresses of the client itself.
    static let locals = [
        Scenario(
            name: "t1: own addresses while the uplink is switched off",
            change: "C link set c0 down",
            undo: upAgain,
            reached: ("g46abcd", "acd", "g46abcd"),
            hosts: ["10.1.0.2", "fd01::2", "127.0.0.1", "::1"]
        ),
        Scenario(
            name: "t2: own addresses while the uplink is unplugged",
            change: unplug,
            undo: plug,
            reached: ("g46ab", "ab", "g46ab"),
            hosts: ["10.1.0.2", "fd01::2"]
        ),
        Scenario(
            name: "t3: own addresses while the loopback device is switched off",
            change: "C link set lo down",
            undo: "C link set lo up",
            reached: ("g46abcd", "g46", "g46abcd"),
            hosts: ["10.1.0.2", "fd01::2", "127.0.0.1", "::1"]
        ),
        Scenario(
            name: "t4: nothing but the loopback device",
            uplinks: .none,
            change: "C addr add 10.9.9.9/32 dev lo",
            undo: "C addr del 10.9.9.9/32 dev lo",
            reached: ("", "a", ""),
            hosts: ["10.9.9.9"]
        ),
        Scenario(
            name: "t5: IPv4 address written as IPv6",
            change: "C route del default",
            undo: "C route add default via 10.1.0.1",
            reached: ("g46a", "g6", "g46a"),
            hosts: ["::ffff:203.0.113.7"]
        ),
    ]

    /// Changes that the client's kernel cannot detect.
    static let unknowable = [
        Scenario(
            name: "q1: gateway dies behind a living carrier",
            change: "R addr flush dev r0",
            undo: "R addr add 10.1.0.1/24 dev r0; R addr add fd01::1/64 dev r0 nodad",
            reached: ("g46", "", "g46"),
            measure: .kernelCannotKnow
        ),
        Scenario(
            name: "q2: a firewall far away drops packets",
            change: "R route add blackhole 203.0.113.0/24; R -6 route add blackhole fd77::/64",
            undo: "R route del blackhole 203.0.113.0/24; R -6 route del blackhole fd77::/64",
            reached: ("g46", "g", "g46"),
            measure: .kernelCannotKnow
        ),
        Scenario(
            name: "q3: router stops forwarding",
            change: "R sysctl net.ipv4.ip_forward=0; R sysctl net.ipv6.conf.all.forwarding=0",
            undo: "R sysctl net.ipv4.ip_forward=1; R sysctl net.ipv6.conf.all.forwarding=1",
            reached: ("g46", "", "g46"),
            measure: .kernelCannotKnow
        ),
        Scenario(
            name: "x3-tcp: rule that forbids TCP alone",
            setup: noIPv6,
            change: "C rule add pref 100 ipproto tcp prohibit",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4"),
            measure: .kernelCannotKnow
        ),
        Scenario(
            name: "x3-port: rule that forbids one port",
            setup: noIPv6,
            change: "C rule add pref 100 ipproto udp dport 4747 prohibit",
            undo: "C rule del pref 100",
            reached: ("g4", "", "g4"),
            measure: .kernelCannotKnow
        ),
        Scenario(
            name: "p6: dormant link, which waits for something above it",
            setup: "C link set c0 mode dormant",
            change: carrierCycle,
            undo: "C link set c0 mode default; \(carrierCycle)",
            reached: ("g46", "g46", "g46"),
            measure: .exception(
                told: "",
                because: "a dormant link requires a connection that the kernel does not enforce"
            ),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
    ]

    /// The kernel applies the new link mode only after it has noticed a loss of carrier.
    private static let carrierCycle = "\(unplug); C until DOWN link show c0; \(plug)"

    /// Changes that do not affect reachability.
    static let irrelevant = [
        "x5-mtu": ("MTU", "C link set c0 mtu 1400", "C link set c0 mtu 1500"),
        "x5-alias": ("alias", "C link set c0 alias foo", "C link set c0 alias bar"),
        "x5-queue": ("queue length", "C link set c0 txqueuelen 500", "C link set c0 txqueuelen 1000"),
        "x5-promisc": ("promiscuous mode", "C link set c0 promisc on", "C link set c0 promisc off"),
        "x5-address": (
            "hardware address", "C link set c0 address 02:00:00:00:01:03", "C link set c0 address 02:00:00:00:01:02"
        ),
        "x5-device": (
            "unrelated device", "C link add z0 type veth peer name z1; C link set z0 up; C link set z1 up",
            "C link del z0"
        ),
        "x5-routes": (
            "1000 unrelated routes",
            (0..<1000).map { "C route add 198.18.\($0 / 250).\($0 % 250)/32 via 10.1.0.1 metric 9" }
                .joined(separator: ";"), "C route flush metric 9"
        ),
        "x5-neighbours": ("neighbours", "C neigh flush dev c0", "C neigh flush dev c0"),
    ]
    .sorted { $0.key < $1.key }
    .map { id, parts in
        Scenario(name: "\(id): \(parts.0) changed", change: parts.1, undo: parts.2, reached: ("g46", "g46", "g46"))
    }
}
