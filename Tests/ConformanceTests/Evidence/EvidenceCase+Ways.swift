extension EvidenceCase {
    static let main = "ok rule: 32766: from all lookup main"
    static let cable = "ok link: c0 (wired-virtual) up, carrier"
    static let verdict = "ok verdict: reachable (ethernet or Wi-Fi)"
    private static let router = "note neighbour: gateway 10.1.0.1 not asked for lately, which is normal"

    /// Targets that can be reached.
    static let ways: [EvidenceCase] = [
        EvidenceCase(
            name: "the network at large",
            changes: Change.uplink,
            reason: nil,
            chain: [
                "ok vote: IPv4 8 of 8, 5 needed; IPv6 5 of 5, 3 needed", "ok address: 1.1.1.1 stands for the others",
                main,
                "ok route: default via 10.1.0.1 dev c0 table main", cable, router, "ok source: 10.1.0.2",
                verdict + ", over IPv4 and IPv6",
            ]
        ),
        EvidenceCase(
            name: "an IPv6 host",
            host: "2001:db8::7",
            changes: Change.uplink,
            reason: nil,
            chain: [
                "ok address: 2001:db8::7", main, "ok route: default via fd01::1 dev c0 table main metric 1024", cable,
                "note neighbour: gateway fd01::1 not asked for lately, which is normal", "ok source: fd01::2", verdict,
            ]
        ),
        EvidenceCase(
            name: "a neighbour",
            host: "10.1.0.9",
            changes: Change.uplink,
            reason: nil,
            chain: [
                "ok address: 10.1.0.9", main, "ok route: 10.1.0.0/24 dev c0 table main", cable,
                "note neighbour: 10.1.0.9 not asked for lately, which is normal", "ok source: 10.1.0.2", verdict,
            ]
        ),
        EvidenceCase(
            name: "an address of this machine",
            host: "10.1.0.2",
            changes: Change.uplink,
            reason: nil,
            chain: [
                "ok address: 10.1.0.2", "ok rule: 0: from all lookup local", "ok route: local 10.1.0.2/32 dev c0",
                "ok link: lo (loopback) up, carrier", "note neighbour: none needed", "ok source: 10.1.0.2", verdict,
            ]
        ),
        EvidenceCase(
            name: "a link-local host with a zone",
            host: "fe80::1%c0",
            changes: Change.uplink + [.address("fe80::2/64", on: "c0")],
            reason: nil,
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
            reason: nil,
            chain: [
                "ok address: 203.0.113.7", "ok rule: 100: from all fwmark 0x7 lookup 100",
                "ok route: default via 10.2.0.1 dev c1 table 100 metric 50", "ok link: c1 (wired-virtual) up, carrier",
                "note neighbour: gateway 10.2.0.1 not asked for lately, which is normal", "ok source: 10.2.0.2",
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
            reason: nil,
            chain: [
                "ok address: 203.0.113.7", "ok rule: 100: from 10.1.0.2 lookup 100",
                "ok route: default via 10.2.0.1 dev c1 table 100", "ok link: c1 (wired-virtual) up, carrier",
                "note neighbour: gateway 10.2.0.1 not asked for lately, which is normal", "ok source: 10.1.0.2",
                verdict,
            ]
        ),
    ]
}
