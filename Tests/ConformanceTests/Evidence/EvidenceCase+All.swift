import NetworkReachability

extension EvidenceCase {
    static let main = "ok rule: 32766: from all lookup main"
    static let cable = "ok link: c0 (wired-virtual) up, carrier"
    static let verdict = "ok verdict: reachable (ethernet or Wi-Fi)"
    private static let router = "note neighbour: gateway 10.1.0.1 not queried recently, which is normal"

    /// Targets that are reachable.
    static let ways: [EvidenceCase] = [
        EvidenceCase(
            name: "the network at large",
            chain: [
                "ok vote: IPv4 8 of 8, 5 needed; IPv6 5 of 5, 3 needed", "ok address: 1.1.1.1 represents the others",
                main,
                "ok route: default via 10.1.0.1 dev c0 table main", cable, router, "ok source: 10.1.0.2",
                verdict + ", over IPv4 and IPv6",
            ]
        ),
        EvidenceCase(
            name: "an IPv6 host",
            host: "2001:db8::7",
            chain: [
                "ok address: 2001:db8::7", main, "ok route: default via fd01::1 dev c0 table main metric 1024", cable,
                "note neighbour: gateway fd01::1 not queried recently, which is normal", "ok source: fd01::2", verdict,
            ]
        ),
        EvidenceCase(
            name: "a neighbour",
            host: "10.1.0.9",
            chain: [
                "ok address: 10.1.0.9", main, "ok route: 10.1.0.0/24 dev c0 table main", cable,
                "note neighbour: 10.1.0.9 not queried recently, which is normal", "ok source: 10.1.0.2", verdict,
            ]
        ),
        EvidenceCase(
            name: "an address of this machine",
            host: "10.1.0.2",
            chain: [
                "ok address: 10.1.0.2", "ok rule: 0: from all lookup local", "ok route: local 10.1.0.2/32 dev c0",
                "ok link: lo (loopback) up, carrier", "note neighbour: none needed", "ok source: 10.1.0.2", verdict,
            ]
        ),
        EvidenceCase(
            name: "a link-local host with a zone",
            host: "fe80::1%c0",
            changes: Change.uplink + [.address("fe80::2/64", on: "c0")],
            chain: []
        ),
        EvidenceCase(
            name: "a table for marked packets",
            host: "203.0.113.7",
            mark: 7,
            changes: Change.twoUplinks + [
                .route(RouteChange("0.0.0.0/0", via: "10.2.0.1", metric: 50, table: 100)),
                .addRule(RuleChange(mark: 7, .lookUp(100))),
            ],
            chain: [
                "ok address: 203.0.113.7", "ok rule: 100: from all fwmark 0x7 lookup 100",
                "ok route: default via 10.2.0.1 dev c1 table 100 metric 50", "ok link: c1 (wired-virtual) up, carrier",
                "note neighbour: gateway 10.2.0.1 not queried recently, which is normal", "ok source: 10.2.0.2",
                verdict,
            ]
        ),
        EvidenceCase(
            name: "a table for our own source",
            host: "203.0.113.7",
            changes: Change.twoUplinks + [
                .route(RouteChange("0.0.0.0/0", via: "10.2.0.1", table: 100)),
                .addRule(RuleChange(from: "10.1.0.2", .lookUp(100))),
            ],
            chain: [
                "ok address: 203.0.113.7", "ok rule: 100: from 10.1.0.2 lookup 100",
                "ok route: default via 10.2.0.1 dev c1 table 100", "ok link: c1 (wired-virtual) up, carrier",
                "note neighbour: gateway 10.2.0.1 not queried recently, which is normal", "ok source: 10.1.0.2",
                verdict,
            ]
        ),
    ]
}

extension EvidenceCase {
    private static let way = ["ok address: 203.0.113.7", main, "ok route: default via 10.1.0.1 dev c0 table main"]
    private static let goneWithLinks = [
        "ok address: 203.0.113.7", "note rule: no rule led to a route",
        "note route: none: the routes were removed with their links",
    ]

    /// Links without a usable path.
    static let linkTroubles: [EvidenceCase] = [
        EvidenceCase(
            name: "the uplink is unplugged",
            host: "203.0.113.7",
            changes: Change.uplink + [.unplug("c0")],
            reason: .noCarrier,
            chain: way + [
                "broken link: c0 (wired-virtual) up, no carrier -> c0 has no carrier: the other end of the virtual link is"
                    + " down or was removed",
                "broken verdict: not reachable, no carrier",
            ]
        ),
        EvidenceCase(
            name: "a modem without a connection",
            host: "203.0.113.7",
            changes: [
                .add("wwan0", .rawIP), .address("10.1.0.2/24", on: "wwan0"),
                .route(RouteChange("0.0.0.0/0", on: "wwan0")),
                .unplug("wwan0"),
            ],
            reason: .noCarrier,
            chain: [
                "ok address: 203.0.113.7", main, "ok route: default dev wwan0 table main",
                "broken link: wwan0 (wwan) up, no carrier -> wwan0 has no carrier: the modem is not connected",
                "broken verdict: not reachable, no carrier",
            ]
        ),
        EvidenceCase(
            name: "the only link is down",
            host: "203.0.113.7",
            changes: Change.uplink + [.down("c0")],
            reason: .linkDown,
            chain: goneWithLinks + [
                "broken link: c0 (wired-virtual) down -> c0 is down: set it up with `ip link set c0 up`",
                "broken verdict: not reachable, link down",
            ]
        ),
        EvidenceCase(
            name: "every link is down",
            host: "203.0.113.7",
            changes: Change.twoUplinks + [.down("c0"), .down("c1")],
            reason: .linkDown,
            chain: goneWithLinks + [
                "broken link: c0 (wired-virtual) down; c1 (wired-virtual) down -> every interface is down: set one up with"
                    + " `ip link set NAME up`",
                "broken verdict: not reachable, link down",
            ]
        ),
        EvidenceCase(
            name: "no link has a carrier or a route",
            host: "203.0.113.7",
            changes: [.add("c0"), .add("c1"), .unplug("c0"), .unplug("c1")],
            reason: .noCarrier,
            chain: goneWithLinks + [
                "broken link: c0 (wired-virtual) up, no carrier; c1 (wired-virtual) up, no carrier -> no interface has a"
                    + " carrier: plug in a cable, or connect one to its network",
                "broken verdict: not reachable, no carrier",
            ]
        ),
        EvidenceCase(
            name: "a dormant link",
            host: "203.0.113.7",
            changes: Change.uplink + [.dormant("c0")],
            reason: .dormant,
            chain: way + [
                "broken link: c0 (wired-virtual) up, carrier, dormant -> c0 is dormant: it waits for an external event, such"
                    + " as authentication at the switch (802.1X)",
                "broken verdict: not reachable, dormant, waiting for a connection",
            ]
        ),
        EvidenceCase(
            name: "a macvlan on a link that is down",
            host: "203.0.113.7",
            changes: [
                .add("c0"), .add("mv0", .macvlan, over: "c0"), .address("10.1.0.2/24", on: "mv0"),
                .route(RouteChange("0.0.0.0/0", via: "10.1.0.1")), .down("c0"),
            ],
            reason: .noCarrier,
            chain: [
                "ok address: 203.0.113.7", main, "ok route: default via 10.1.0.1 dev mv0 table main",
                "broken link: mv0 (wired-virtual) up, no carrier, over c0 (wired-virtual) down -> c0 is down: set it up with"
                    + " `ip link set c0 up`",
                "broken verdict: not reachable, no carrier",
            ]
        ),
        EvidenceCase(
            name: "a vxlan over a link that is unplugged",
            host: "203.0.113.7",
            changes: [
                .add("c0"), .address("10.1.0.2/24", on: "c0"), .add("vx0", .vxlan, over: "c0"),
                .address("10.50.0.2/24", on: "vx0"), .route(RouteChange("0.0.0.0/0", via: "10.50.0.1")), .unplug("c0"),
            ],
            reason: .noCarrier,
            chain: [
                "ok address: 203.0.113.7", main, "ok route: default via 10.50.0.1 dev vx0 table main",
                "broken link: vx0 (tunnel) up, carrier, over c0 (wired-virtual) up, no carrier -> c0 has no carrier: the other"
                    + " end of the virtual link is down or was removed",
                "broken verdict: not reachable, no carrier",
            ]
        ),
    ]

    /// Missing addresses and interfaces.
    static let others: [EvidenceCase] = [
        EvidenceCase(
            name: "a default route through a link without an address",
            host: "203.0.113.7",
            changes: [.add("c0"), .route(RouteChange("0.0.0.0/0", on: "c0"))],
            reason: .noSourceAddress,
            chain: [
                "ok address: 203.0.113.7", main, "ok route: default dev c0 table main", cable,
                "note neighbour: 203.0.113.7 not queried recently, which is normal",
                "broken source: none -> give c0 an IPv4 address that replies can reach:"
                    + " `ip address add ADDRESS/LENGTH dev c0`",
                "broken verdict: not reachable, no source address",
            ]
        ),
        EvidenceCase(
            name: "an IPv6 default route through a link with a link-local address",
            host: "2001:db8::7",
            changes: [.add("c0"), .address("fe80::2/64", on: "c0"), .route(RouteChange("::/0", on: "c0"))],
            reason: .noSourceAddress,
            chain: []
        ),
        EvidenceCase(
            name: "no interface but the loopback",
            changes: [],
            reason: .noInterface,
            chain: [
                "note vote: IPv4 0 of 8, 5 needed; IPv6 0 of 5, 3 needed", "ok address: 1.1.1.1 represents the others",
                "note rule: no rule led to a route", "note route: none: the routes were removed with their links",
                "broken link: none except the loopback -> connect a network device or load its driver, or add an"
                    + " interface to the network namespace",
                "broken verdict: not reachable, no interface",
            ]
        ),
        EvidenceCase(
            name: "a zone that is no interface",
            host: "fe80::1%eth9",
            reason: .noInterface,
            chain: [
                "broken address: fe80::1%eth9: there is no interface eth9 -> name an existing interface instead of eth9:"
                    + " `ip link` lists them",
                "broken verdict: not reachable, no interface",
            ]
        ),
    ]
}

extension EvidenceCase {
    /// Targets that the routing policy refuses.
    static let refusals: [EvidenceCase] =
        refusedRoutes("203.0.113.7", "203.0.113.0/24", "") + refusedRoutes("2001:db8::7", "2001:db8::/32", "-6 ")
        + [
            refusedRule(.prohibit, .prohibited),
            refusedRule(.blackhole, .blackholed),
            refusedRule(.unreachable, .noRoute),
            EvidenceCase(
                name: "a rule that forbids our own source",
                host: "203.0.113.7",
                changes: Change.uplink + [.addRule(RuleChange(from: "10.1.0.0/24", .prohibit))],
                reason: .prohibited,
                chain: [
                    "ok address: 203.0.113.7",
                    "broken rule: 100: from 10.1.0.0/24 prohibit -> rule 100 rejects the packets: delete it with"
                        + " `ip rule del priority 100 from 10.1.0.0/24 prohibit`, or exclude 203.0.113.7 from it",
                    "broken verdict: not reachable, prohibited by a route or rule",
                ]
            ),
            EvidenceCase(
                name: "no default route",
                changes: Change.cable(),
                reason: .noRoute,
                chain: [
                    "note vote: IPv4 0 of 8, 5 needed; IPv6 0 of 5, 3 needed",
                    "ok address: 1.1.1.1 represents the others",
                    "note rule: no rule led to a route",
                    "broken route: none to 1.1.1.1 in the tables local, main, default -> add a route to 1.1.1.1, usually a"
                        + " default route, or find out why DHCP provided none",
                    "broken verdict: not reachable, no route",
                ]
            ),
            EvidenceCase(
                name: "an IPv6 default route that has expired",
                host: "2001:db8::7",
                changes: Change.cable() + [
                    .route(RouteChange("::/0", via: "fd01::1").expiring(after: 1)), .pass(.seconds(2)),
                ],
                reason: .noRoute,
                chain: [
                    "ok address: 2001:db8::7", "note rule: no rule led to a route",
                    "broken route: none to 2001:db8::7 in the tables local, main; default via fd01::1 dev c0"
                        + " table main metric 1024 has expired -> find out why the router no longer advertises it, or make it"
                        + " permanent with `ip -6 route replace default via fd01::1 dev c0 table main metric 1024`",
                    "broken verdict: not reachable, no route",
                ]
            ),
            EvidenceCase(
                name: "no IPv6 default route",
                host: "2001:db8::7",
                changes: Change.cable(),
                reason: .noRoute,
                chain: [
                    "ok address: 2001:db8::7", "note rule: no rule led to a route",
                    "broken route: none to 2001:db8::7 in the tables local, main -> add a route to 2001:db8::7, usually a"
                        + " default route, or find out why router advertisements provided none",
                    "broken verdict: not reachable, no route",
                ]
            ),
        ]

    private static func refusedRoutes(_ host: String, _ prefix: String, _ option: String) -> [EvidenceCase] {
        [
            refusedRoute(host, prefix, option, .prohibit, .prohibited),
            refusedRoute(host, prefix, option, .blackhole, .blackholed),
            refusedRoute(host, prefix, option, .unreachable, .unreachable),
        ]
    }

    private static func refusedRoute(
        _ host: String,
        _ prefix: String,
        _ option: String,
        _ kind: RouteChange.Kind,
        _ reason: NetworkPath.UnsatisfiedReason
    ) -> EvidenceCase {
        let place = "\(kind.rawValue) \(prefix) table main" + (option.isEmpty ? "" : " metric 1024")
        return EvidenceCase(
            name: "a route of type \(kind.rawValue) to \(prefix)",
            host: host,
            changes: Change.uplink + [.route(RouteChange(prefix, kind))],
            reason: reason,
            chain: [
                "ok address: \(host)", main,
                "broken route: \(place) -> the route rejects the packets: delete it with `ip \(option)route del \(place)`,"
                    + " or add a more specific one to \(host)",
                "broken verdict: not reachable, \(reason)",
            ]
        )
    }

    private static func refusedRule(
        _ action: RuleChange.Action,
        _ reason: NetworkPath.UnsatisfiedReason
    ) -> EvidenceCase {
        EvidenceCase(
            name: "a rule of action \(action)",
            host: "203.0.113.7",
            changes: Change.uplink + [.addRule(RuleChange(to: "203.0.113.0/24", action))],
            reason: reason,
            chain: [
                "ok address: 203.0.113.7",
                "broken rule: 100: from all to 203.0.113.0/24 \(action) -> rule 100 rejects the packets: delete it with"
                    + " `ip rule del priority 100 from all to 203.0.113.0/24 \(action)`, or exclude 203.0.113.7 from it",
                "broken verdict: not reachable, \(reason)",
            ]
        )
    }
}
