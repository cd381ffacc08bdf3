extension PathCase {
    static let refusals =
        [
            (RouteChange.Kind.blackhole, "blackholed"), (.unreachable, "unreachable"), (.prohibit, "prohibited"),
            (.throwing, "noRoute"),
        ].flatMap { kind, reason in
            [
                refusal("203.0.113.7", "203.0.113.0/24", kind, reason, before: hostThroughFirst),
                refusal("2001:db8::7", "2001:db8::/32", kind, reason, before: host6ThroughFirst),
            ]
        } + [
            refusedRule(.prohibit, "prohibited"), refusedRule(.unreachable, "noRoute"),
            refusedRule(.blackhole, "blackholed"), refusedRule6(.prohibit, "prohibited"),
            PathCase(
                name: "a table that throws everything back",
                host: "203.0.113.7",
                setup: Change.uplink + [.route(RouteChange("0.0.0.0/0", table: 100, .throwing))],
                change: [.addRule(RuleChange(.lookUp(100)))],
                undo: [.removeRule(.ipv4, priority: 100)],
                before: hostThroughFirst,
                after: hostThroughFirst
            ),
        ]

    private static func refusal(
        _ host: String,
        _ prefix: String,
        _ kind: RouteChange.Kind,
        _ reason: String,
        before: String
    ) -> PathCase {
        PathCase(
            name: "a route of type \(kind.rawValue) to \(prefix)",
            host: host,
            setup: Change.uplink,
            change: [.route(RouteChange(prefix, kind))],
            undo: [.removeRoute(RouteChange(prefix, kind))],
            before: before,
            after: "-- ------- \(reason)"
        )
    }

    private static func refusedRule(_ action: RuleChange.Action, _ reason: String) -> PathCase {
        PathCase(
            name: "an IPv4 rule of action \(action)",
            host: "203.0.113.7",
            setup: Change.uplink,
            change: [.addRule(RuleChange(to: "203.0.113.0/24", action))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: "-- ------- \(reason)"
        )
    }

    private static func refusedRule6(_ action: RuleChange.Action, _ reason: String) -> PathCase {
        PathCase(
            name: "an IPv6 rule of action \(action)",
            host: "2001:db8::7",
            setup: Change.uplink,
            change: [.addRule(RuleChange(family: .ipv6, to: "2001:db8::/32", action))],
            undo: [.removeRule(.ipv6, priority: 100)],
            before: host6ThroughFirst,
            after: "-- ------- \(reason)"
        )
    }
}
