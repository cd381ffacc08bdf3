import LinuxSupport
import Netlink
import Testing

/// A sequence of changes. After each one, both kernels must agree.
struct HonestyScenario: CustomTestStringConvertible {
    let name: String
    var preparation: [String] = HonestyScenario.defaults
    let commands: [String]
    /// A Boolean value that indicates whether plain lookups are omitted, because a hash selects one of several next
    /// hops.
    var comparesEntriesOnly = false

    var testDescription: String { name }

    static let addresses = [
        "addr add 10.1.0.2/24 dev c0", "addr add fd01::2/64 dev c0", "addr add 10.2.0.2/24 dev c1",
        "addr add fd02::2/64 dev c1",
    ]

    static let defaults = ["route add default via 10.1.0.1", "route add default via fd01::1"]

    private static let destinations = [
        "1.1.1.1", "10.1.0.1", "10.1.0.99", "10.1.0.2", "10.1.0.255", "10.2.0.7", "10.77.0.10", "127.0.0.1",
        "127.3.2.1",
        "0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.251", "169.254.7.7", "2606:4700:4700::1111", "2001:db8::5",
        "fd01::1", "fd01::99", "fd01::2", "fd02::7", "fd77::10", "::", "::1",
        "9.1.2.3", "10.5.0.2", "10.5.0.7", "fd05::2", "fd05::7", "fe80::ff:fe00:2", "fe80::ff:fe00:3",
    ]

    /// The queries of every scenario: each destination as a plain lookup, as an entry, with source addresses, with a
    /// mark, and bound to interfaces.
    var queries: [RouteQuery] {
        let all = Self.destinations.compactMap { WireAddress($0) }.flatMap { destination in
            let isIPv4 = destination.family == .ipv4
            let sources = (isIPv4 ? ["10.1.0.2", "10.2.0.2", "9.9.9.9"] : ["fd01::2", "fd02::2"])
                .compactMap { WireAddress($0) }
            var queries = [false, true].map { RouteQuery(destination: destination, wantsEntry: $0) }
            queries += sources.map { RouteQuery(destination: destination, source: $0) }
            queries += [
                RouteQuery(destination: destination, mark: 1), RouteQuery(destination: destination, mark: 51820),
            ]
            for interface: UInt32 in [2, 3] {
                queries += [false, true].map {
                    RouteQuery(destination: destination, outputInterface: interface, wantsEntry: $0)
                }
            }
            return queries
        }
        return comparesEntriesOnly ? all.filter { $0.wantsEntry || $0.outputInterface != nil } : all
    }
}

extension HonestyScenario {
    /// The letters are the IDs of the measurements on which the library is based.
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

extension HonestyScenario {
    static let policies = [
        HonestyScenario(
            name: "i1: marks",
            preparation: defaults + ["route add default via 10.2.0.1 table 100"],
            commands: ["rule add fwmark 0x1 lookup 100", "rule del pref 32765"]
        ),
        HonestyScenario(
            name: "i2: a table of one's own",
            preparation: [],
            commands: [
                "route add default via 10.1.0.1 table 100", "rule add pref 1000 lookup 100", "rule del pref 1000",
            ]
        ),
        HonestyScenario(
            name: "i3: as wg-quick does it",
            commands: [
                "route add default dev c1 table 51820", "rule add not fwmark 51820 table 51820",
                "rule add table main suppress_prefixlength 0", "link set c1 down",
            ]
        ),
        HonestyScenario(
            name: "x7: as wg-quick does it for IPv6",
            commands: [
                "-6 route add default dev c1 table 51820", "-6 rule add not fwmark 51820 table 51820",
                "-6 rule add table main suppress_prefixlength 0", "link set c1 down",
            ]
        ),
        HonestyScenario(
            name: "i4: rules that refuse",
            commands: [
                "rule add pref 100 prohibit", "rule del pref 100", "rule add pref 100 unreachable", "rule del pref 100",
                "rule add pref 100 blackhole", "rule del pref 100", "-6 rule add pref 100 prohibit",
                "-6 rule del pref 100", "-6 rule add pref 100 unreachable", "-6 rule del pref 100",
                "-6 rule add pref 100 blackhole", "-6 rule del pref 100",
            ]
        ),
        HonestyScenario(
            name: "x2: rules by source",
            commands: [
                "rule add pref 100 from 10.1.0.2 prohibit", "rule del pref 100",
                "-6 rule add pref 100 from fd01::2 prohibit", "-6 rule del pref 100",
            ]
        ),
        HonestyScenario(
            name: "x3: rules by destination",
            commands: ["rule add pref 100 to 1.0.0.0/8 prohibit", "-6 rule add pref 100 to 2000::/3 blackhole"]
        ),
        HonestyScenario(
            name: "local routes beside main ones",
            commands: [
                "route add 127.3.0.0/16 via 10.1.0.1", "rule add pref 900 to 9.9.9.9 prohibit", "rule del pref 900",
                "route add local 10.77.0.0/16 dev c0 table local",
            ]
        ),
    ]

    static let neighbours = [
        HonestyScenario(
            name: "neighbours, and a carrier that goes",
            commands: [
                "neigh add 10.1.0.1 lladdr 02:00:00:00:00:99 dev c0 nud stale",
                "neigh add 10.1.0.9 lladdr 02:00:00:00:00:99 dev c0 nud permanent",
                "neigh add fd01::1 lladdr 02:00:00:00:00:99 dev c0 nud reachable",
                "neigh add 10.2.0.1 lladdr 02:00:00:00:00:99 dev c1 nud noarp", "cable r0 down",
                "neigh del 10.1.0.9 dev c0", "cable r0 up",
            ]
        ),
        HonestyScenario(
            name: "neighbours, and a link that is set down",
            commands: [
                "neigh add 10.1.0.9 lladdr 02:00:00:00:00:99 dev c0 nud permanent",
                "neigh add 10.2.0.1 lladdr 02:00:00:00:00:99 dev c1 nud stale", "link set c0 down", "link del c1",
            ]
        ),
    ]

    static let objects = [
        HonestyScenario(
            name: "k1: a next hop object",
            preparation: [],
            commands: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1",
                "nexthop replace id 1 via 10.2.0.1 dev c1", "nexthop del id 1",
            ]
        ),
        HonestyScenario(
            name: "k2: an IPv6 next hop object",
            preparation: [],
            commands: ["nexthop add id 6 via fd01::1 dev c0", "-6 route add default nhid 6", "nexthop del id 6"]
        ),
        HonestyScenario(
            name: "k3: an object without a carrier",
            preparation: ["nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1"],
            commands: ["cable r0 down", "cable r0 up"]
        ),
        HonestyScenario(
            name: "k4: a group",
            preparation: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "nexthop add id 2 via 10.2.0.1 dev c1",
                "nexthop add id 10 group 1/2", "route add default nhid 10",
            ],
            commands: ["nexthop del id 1", "nexthop replace id 2 blackhole", "nexthop del id 2"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "k6: IPv6 objects without a carrier",
            preparation: ["nexthop add id 6 via fd01::1 dev c0", "-6 route add default nhid 6"],
            commands: ["cable r0 down", "cable r0 up"]
        ),
        HonestyScenario(
            name: "k7: a group that loses a carrier",
            preparation: [
                "nexthop add id 1 via 10.1.0.1 dev c0", "nexthop add id 2 via 10.2.0.1 dev c1",
                "nexthop add id 10 group 1/2", "route add default nhid 10",
            ],
            commands: ["cable r0 down", "cable r0 up", "cable r1 down"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "k8: an object outlives an address",
            preparation: ["nexthop add id 1 via 10.1.0.1 dev c0", "route add default nhid 1"],
            commands: ["addr del 10.1.0.2/24 dev c0", "link set c0 down"]
        ),
    ]

    static let multipath = [
        HonestyScenario(
            name: "l1: hops of an IPv4 route",
            preparation: ["route add default nexthop via 10.1.0.1 dev c0 nexthop via 10.2.0.1 dev c1"],
            commands: [
                "link set c0 down", "link set c0 up", "addr del 10.1.0.2/24 dev c0", "addr add 10.1.0.2/24 dev c0",
                "link set c1 down", "link set c0 down",
            ],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "l2: hops of an IPv6 route",
            preparation: ["-6 route add default nexthop via fd01::1 dev c0 nexthop via fd02::1 dev c1"],
            commands: ["cable r0 down", "cable r0 up", "link set c0 down", "link set c1 down"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "l3: a hop's link is removed",
            preparation: [
                "route add default nexthop via 10.1.0.1 dev c0 nexthop via 10.2.0.1 dev c1",
                "-6 route add default nexthop via fd01::1 dev c0 nexthop via fd02::1 dev c1",
            ],
            commands: ["link del c0"],
            comparesEntriesOnly: true
        ),
        HonestyScenario(
            name: "d3: hops appended",
            preparation: ["-6 route add default via fd02::1"],
            commands: ["-6 route append default via fd01::1", "-6 route del default via fd02::1"],
            comparesEntriesOnly: true
        ),
    ]
}

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
