extension HonestyScenario {
    static let uppers = [
        HonestyScenario(
            name: "o1: a bridge",
            preparation: [
                "bridge br0", "port c0 br0", "link set br0 up", "addr add 10.5.0.2/24 dev br0",
                "addr add fd05::2/64 dev br0", "route add default via 10.5.0.1", "-6 route add default via fd05::1",
            ],
            commands: ["cable r0 down", "cable r0 up", "link set c0 down"]
        ),
        HonestyScenario(
            name: "o2: a macvlan",
            preparation: [
                "macvlan mv0", "link set mv0 up", "addr add 10.5.0.2/24 dev mv0", "addr add fd05::2/64 dev mv0",
                "route add default via 10.5.0.1", "-6 route add default via fd05::1",
            ],
            commands: ["cable r0 down", "cable r0 up", "link set c0 down", "link set c0 up", "link del c0"]
        ),
        HonestyScenario(name: "p: dormant", commands: ["dormant c0"]),
        HonestyScenario(
            name: "m1: a tentative address",
            preparation: ["addr del fd01::2/64 dev c0", "addr del fd02::2/64 dev c1"],
            commands: ["tentative fd05::2/64 c1", "-6 route add default via fd05::1", "detected fd05::2 c1"]
        ),
        HonestyScenario(
            name: "m3: a deprecated address",
            commands: ["addr add fd01::3/64 dev c0", "deprecated fd01::3/64 c0", "addr del fd01::2/64 dev c0"]
        ),
    ]
}
