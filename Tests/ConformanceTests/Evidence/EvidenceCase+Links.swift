extension EvidenceCase {
    private static let way = ["ok address: 203.0.113.7", main, "ok route: default via 10.1.0.1 dev c0 table main"]
    private static let goneWithLinks = [
        "ok address: 203.0.113.7", "note rule: no rule led to a route", "note route: none: routes go with their links",
    ]

    /// Links that stand in the way.
    static let linkTroubles: [EvidenceCase] = [
        EvidenceCase(
            name: "the uplink is unplugged",
            host: "203.0.113.7",
            changes: Change.uplink + [.unplug("c0")],
            reason: .noCarrier,
            chain: way + [
                "broken link: c0 (wired-virtual) up, no carrier -> c0 has no carrier: the other end of the virtual cable is"
                    + " down or gone",
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
                "broken link: c0 (wired-virtual) up, carrier, dormant -> c0 is dormant: it waits for something outside, such"
                    + " as a login to the switch (802.1X)",
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
                    + " end of the virtual cable is down or gone",
                "broken verdict: not reachable, no carrier",
            ]
        ),
    ]

    /// Addresses that are missing, and interfaces.
    static let others: [EvidenceCase] = [
        EvidenceCase(
            name: "a default route through a link without an address",
            host: "203.0.113.7",
            changes: [.add("c0"), .route(RouteChange("0.0.0.0/0", on: "c0"))],
            reason: .noSourceAddress,
            chain: [
                "ok address: 203.0.113.7", main, "ok route: default dev c0 table main", cable,
                "note neighbour: 203.0.113.7 not asked for lately, which is normal",
                "broken source: none -> give c0 an IPv4 address that answers can come back to:"
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
                "note vote: IPv4 0 of 8, 5 needed; IPv6 0 of 5, 3 needed", "ok address: 1.1.1.1 stands for the others",
                "note rule: no rule led to a route", "note route: none: routes go with their links",
                "broken link: none but the loopback -> plug in a network device or load its driver, or give the network"
                    + " namespace an interface",
                "broken verdict: not reachable, no interface",
            ]
        ),
        EvidenceCase(
            name: "a zone that is no interface",
            host: "fe80::1%eth9",
            changes: Change.uplink,
            reason: .noInterface,
            chain: [
                "broken address: fe80::1%eth9: there is no interface eth9 -> name an interface there is instead of eth9:"
                    + " `ip link` shows them",
                "broken verdict: not reachable, no interface",
            ]
        ),
    ]
}
