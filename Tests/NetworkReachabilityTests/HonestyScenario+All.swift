extension HonestyScenario {
    /// The letters are those of the measurements the library rests on.
    static let all = links + uppers + addressChanges + routes + policies + neighbours + objects + multipath

    private static let links = [
        HonestyScenario(
            name: "a: link down and up",
            commands: [
                "link set c0 down", "link set c0 up", "route add default via 10.1.0.1", "addr add fd01::2/64 dev c0",
                "route add default via fd01::1", "link set c1 down",
            ]
        ),
        HonestyScenario(name: "b: carrier", commands: ["cable r0 down", "cable r0 up"]),
        HonestyScenario(
            name: "b: carrier lost, then down",
            commands: ["cable r0 down", "link set c0 down", "cable r0 up", "link set c0 up"]
        ),
        HonestyScenario(name: "f: rename and touch", commands: ["link set c0 name wan0", "link set wan0 mtu 1400"]),
        HonestyScenario(name: "h: link removed", commands: ["link del c0"]),
        HonestyScenario(name: "r6: loopback down", commands: ["link set lo down", "link set lo up"]),
        HonestyScenario(
            name: "n: routes ignored without carrier",
            commands: [
                "ignore ipv4 1", "cable r0 down", "ignore ipv6 1", "ignore ipv4 0", "cable r0 up", "ignore ipv6 0",
            ]
        ),
        HonestyScenario(
            name: "n3: ignored with a second best",
            preparation: defaults + [
                "route add default via 10.2.0.1 metric 200", "route add default via fd02::1 metric 2000",
                "ignore ipv4 1", "ignore ipv6 1",
            ],
            commands: ["cable r0 down", "cable r1 down", "cable r0 up"]
        ),
    ]

    private static let addressChanges = [
        HonestyScenario(
            name: "c1: last IPv4 address",
            commands: ["addr del 10.1.0.2/24 dev c0", "addr add 10.1.0.2/24 dev c0"]
        ),
        HonestyScenario(
            name: "c2: one of two IPv4 addresses",
            preparation: defaults + ["addr add 10.9.0.2/24 dev c0"],
            commands: ["addr del 10.9.0.2/24 dev c0", "addr add 10.9.0.2/24 dev c0", "addr del 10.1.0.2/24 dev c0"]
        ),
        HonestyScenario(
            name: "c3: IPv6 address",
            commands: ["addr del fd01::2/64 dev c0", "addr add fd01::2/64 dev c0"]
        ),
        HonestyScenario(
            name: "c4: no addresses left",
            commands: [
                "addr del 10.1.0.2/24 dev c0", "addr del fd01::2/64 dev c0", "addr del fe80::ff:fe00:2/64 dev c0",
                "addr del fd02::2/64 dev c1", "addr del fe80::ff:fe00:3/64 dev c1",
            ]
        ),
        HonestyScenario(
            name: "c5: a route's own source",
            preparation: ["addr add 10.1.0.3/32 dev c0", "route add default via 10.1.0.1 src 10.1.0.3"],
            commands: ["addr del 10.1.0.3/32 dev c0"]
        ),
        HonestyScenario(
            name: "r9: secondaries",
            preparation: defaults + ["addr add 10.1.0.3/24 dev c0"],
            commands: ["addr del 10.1.0.3/24 dev c0", "addr add 10.1.0.4/24 dev c0", "addr del 10.1.0.2/24 dev c0"]
        ),
        HonestyScenario(
            name: "addresses of a link that is down",
            preparation: ["link set c1 down"],
            commands: [
                "addr add 10.5.0.2/24 dev c1", "addr add fd05::2/64 dev c1", "link set c1 up",
                "route add default via 10.5.0.1",
            ]
        ),
        HonestyScenario(
            name: "the choice of a source",
            commands: [
                "addr add fd01::3/64 dev c0", "addr add 2001:db8::2/64 dev c1", "addr add 2606:4700::2/64 dev c1",
                "addr del fd01::3/64 dev c0",
            ]
        ),
    ]

    private static let routes = [
        HonestyScenario(
            name: "d: add, replace, append, remove",
            commands: [
                "route del default", "route add default via 10.1.0.1 metric 100", "route replace default via 10.2.0.1",
                "route add default via 10.2.0.1 metric 50", "route del default metric 50", "route del default",
                "-6 route replace default via fd02::1", "-6 route add default via fd01::1 metric 50",
                "-6 route del default via fd01::1 metric 50", "-6 route del default",
            ]
        ),
        HonestyScenario(
            name: "j1: IPv4 routes to nowhere",
            preparation: ["route add default via 10.1.0.1 metric 100"],
            commands: [
                "route add blackhole default metric 10", "route del blackhole default metric 10",
                "route add unreachable default metric 10", "route del unreachable default metric 10",
                "route add prohibit 1.0.0.0/8", "route del prohibit 1.0.0.0/8", "route add throw default metric 10",
                "route del throw default metric 10",
            ]
        ),
        HonestyScenario(
            name: "j2: IPv6 routes to nowhere",
            commands: [
                "-6 route add blackhole default metric 10", "-6 route del blackhole default metric 10",
                "-6 route add unreachable default metric 10", "-6 route del unreachable default metric 10",
                "-6 route add prohibit 2606::/16", "-6 route del prohibit 2606::/16",
                "-6 route add throw default metric 10", "-6 route del throw default metric 10",
            ]
        ),
        HonestyScenario(
            name: "r1: halves of the world",
            commands: [
                "route add 0.0.0.0/1 via 10.2.0.1", "route add 128.0.0.0/1 via 10.2.0.1", "route del default",
                "-6 route add 2000::/3 via fd02::1", "link set c1 down",
            ]
        ),
        HonestyScenario(
            name: "r3: no global address",
            preparation: ["addr del fd01::2/64 dev c0", "addr del fd02::2/64 dev c1"],
            commands: ["-6 route add default via fe80::1 dev c0"]
        ),
        HonestyScenario(
            name: "r4: no source",
            preparation: ["addr del 10.1.0.2/24 dev c0", "addr del 10.2.0.2/24 dev c1"],
            commands: [
                "route add default dev c0", "route add 10.1.0.1/32 dev c0",
                "route replace default via 10.1.0.1 dev c0", "addr add 10.7.0.1/24 dev c1",
            ]
        ),
        HonestyScenario(
            name: "r7: IPv4 over an IPv6 router",
            preparation: ["route add default via fd01::1"],
            commands: ["-4 route add default via inet6 fd01::1 dev c0", "link set c0 down"]
        ),
        HonestyScenario(
            name: "m5: a route that expires",
            preparation: [],
            commands: ["-6 route add default via fd01::1 expires 3600", "-6 route del default"]
        ),
    ]
}
