import NetworkReachability

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
                    "broken rule: 100: from 10.1.0.0/24 prohibit -> rule 100 refuses: delete it with"
                        + " `ip rule del priority 100 from 10.1.0.0/24 prohibit`, or let it spare 203.0.113.7",
                    "broken verdict: not reachable, prohibited by a route or rule",
                ]
            ),
            EvidenceCase(
                name: "no default route",
                changes: Change.cable(),
                reason: .noRoute,
                chain: [
                    "note vote: IPv4 0 of 8, 5 needed; IPv6 0 of 5, 3 needed",
                    "ok address: 1.1.1.1 stands for the others",
                    "note rule: no rule led to a route",
                    "broken route: none to 1.1.1.1 in the tables local, main, default -> add a route to 1.1.1.1, usually a"
                        + " default route, or find out why DHCP brought none",
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
                        + " table main metric 1024 has expired -> find out why the router advertises no more, or make it last"
                        + " with `ip -6 route replace default via fd01::1 dev c0 table main metric 1024`",
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
                        + " default route, or find out why router advertisements brought none",
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
                "broken route: \(place) -> the route refuses: delete it with `ip \(option)route del \(place)`, or add a"
                    + " narrower one to \(host)",
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
                "broken rule: 100: from all to 203.0.113.0/24 \(action) -> rule 100 refuses: delete it with"
                    + " `ip rule del priority 100 from all to 203.0.113.0/24 \(action)`, or let it spare 203.0.113.7",
                "broken verdict: not reachable, \(reason)",
            ]
        )
    }
}
