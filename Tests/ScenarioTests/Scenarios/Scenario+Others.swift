import NetworkLab

extension Scenario {
    /// Addresses of the client itself.
    static let locals = [
        Scenario(
            id: "t1",
            title: "own addresses while the uplink is switched off",
            change: "C link set c0 down",
            undo: upAgain,
            before: "g46abcd",
            after: "acd",
            back: "g46abcd",
            hosts: ["10.1.0.2", "fd01::2", "127.0.0.1", "::1"]
        ),
        Scenario(
            id: "t2",
            title: "own addresses while the uplink is unplugged",
            change: unplug,
            undo: plug,
            before: "g46ab",
            after: "ab",
            back: "g46ab",
            hosts: ["10.1.0.2", "fd01::2"]
        ),
        Scenario(
            id: "t3",
            title: "own addresses while the loopback device is switched off",
            change: "C link set lo down",
            undo: "C link set lo up",
            before: "g46abcd",
            after: "g46",
            back: "g46abcd",
            hosts: ["10.1.0.2", "fd01::2", "127.0.0.1", "::1"]
        ),
        Scenario(
            id: "t4",
            title: "nothing but the loopback device",
            uplinks: .none,
            change: "C addr add 10.9.9.9/32 dev lo",
            undo: "C addr del 10.9.9.9/32 dev lo",
            before: "",
            after: "a",
            back: "",
            hosts: ["10.9.9.9"]
        ),
        Scenario(
            id: "t5",
            title: "IPv4 address written as IPv6",
            change: "C route del default",
            undo: "C route add default via 10.1.0.1",
            before: "g46a",
            after: "g6",
            back: "g46a",
            hosts: ["::ffff:203.0.113.7"]
        ),
    ]

    /// What the kernel of the client has no way to know.
    static let unknowable = [
        Scenario(
            id: "q1",
            title: "gateway dies behind a living carrier",
            change: "R addr flush dev r0",
            undo: "R addr add 10.1.0.1/24 dev r0; R addr add fd01::1/64 dev r0 nodad",
            after: "",
            measure: .kernelCannotKnow
        ),
        Scenario(
            id: "q2",
            title: "a firewall far away drops packets",
            change: "R route add blackhole 203.0.113.0/24; R -6 route add blackhole fd77::/64",
            undo: "R route del blackhole 203.0.113.0/24; R -6 route del blackhole fd77::/64",
            after: "g",
            measure: .kernelCannotKnow
        ),
        Scenario(
            id: "q3",
            title: "router stops forwarding",
            change: "R sysctl net.ipv4.ip_forward=0; R sysctl net.ipv6.conf.all.forwarding=0",
            undo: "R sysctl net.ipv4.ip_forward=1; R sysctl net.ipv6.conf.all.forwarding=1",
            after: "",
            measure: .kernelCannotKnow
        ),
        Scenario(
            id: "x3-tcp",
            title: "rule that forbids TCP alone",
            setup: noIPv6,
            change: "C rule add pref 100 ipproto tcp prohibit",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4",
            measure: .kernelCannotKnow
        ),
        Scenario(
            id: "x3-port",
            title: "rule that forbids one port",
            setup: noIPv6,
            change: "C rule add pref 100 ipproto udp dport 4747 prohibit",
            undo: "C rule del pref 100",
            before: "g4",
            after: "",
            back: "g4",
            measure: .kernelCannotKnow
        ),
        Scenario(
            id: "p6",
            title: "dormant link, which waits for something above it",
            setup: "C link set c0 mode dormant",
            change: carrierCycle,
            undo: "C link set c0 mode default; \(carrierCycle)",
            after: "g46",
            measure: .exception(
                told: "",
                because: "a dormant link requires a connection that the kernel does not enforce"
            ),
            mayFlip: true,
            quiet: .milliseconds(1300)
        ),
    ]

    /// Only a carrier that was seen to go makes the kernel think of the mode again.
    private static let carrierCycle = "\(unplug); C until DOWN link show c0; \(plug)"

    /// Changes that change nothing.
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
        Scenario(id: id, title: "\(parts.0) changed", change: parts.1, undo: parts.2, after: "g46")
    }
}
