extension PathCase {
    static let defaults = [
        PathCase(
            name: "the default routes are deleted",
            change: Change.defaults(Change.removeRoute),
            undo: Change.defaults(Change.addRoute),
            before: throughFirst,
            after: noRoute
        ),
        PathCase(
            name: "the default routes are replaced",
            setup: Change.twoUplinks,
            change: Change.defaults(Change.replaceRoute, 2),
            undo: Change.defaults(Change.replaceRoute, 1),
            before: throughFirst,
            after: throughSecond
        ),
        PathCase(
            name: "the default routes get another metric",
            change: [
                .route(RouteChange("0.0.0.0/0", via: "10.1.0.1", metric: 50)),
                .route(RouteChange("::/0", via: "fd01::1", metric: 50)),
                .removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1")),
                .removeRoute(RouteChange("::/0", via: "fd01::1", metric: 1024)),
            ],
            undo: [
                .route(RouteChange("0.0.0.0/0", via: "10.1.0.1")), .route(RouteChange("::/0", via: "fd01::1")),
                .removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1", metric: 50)),
                .removeRoute(RouteChange("::/0", via: "fd01::1", metric: 50)),
            ],
            before: throughFirst,
            after: throughFirst
        ),
        PathCase(
            name: "two halves instead of a default route, and one is deleted",
            setup: Change.cable() + [
                .route(RouteChange("0.0.0.0/1", via: "10.1.0.1")), .route(RouteChange("128.0.0.0/1", via: "10.1.0.1")),
            ],
            change: [.removeRoute(RouteChange("128.0.0.0/1", via: "10.1.0.1"))],
            undo: [.route(RouteChange("128.0.0.0/1", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "half of the internet is enough for a host in it",
            host: "93.184.216.34",
            setup: Change.cable() + [.route(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            change: [.removeRoute(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            undo: [.route(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "all global addresses of IPv6 instead of a default route",
            setup: Change.cable() + [.route(RouteChange("2000::/3", via: "fd01::1"))],
            change: [.removeRoute(RouteChange("2000::/3", via: "fd01::1"))],
            undo: [.route(RouteChange("2000::/3", via: "fd01::1"))],
            before: host6ThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "a route to elsewhere changes nothing",
            change: [.route(RouteChange("198.51.100.0/24", .blackhole))],
            undo: [.removeRoute(RouteChange("198.51.100.0/24", .blackhole))],
            before: throughFirst,
            after: throughFirst
        ),
    ]
}

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
            change: [.addRule(RuleChange(family: .ipv6, to: "2001:db8::/32", action))],
            undo: [.removeRule(.ipv6, priority: 100)],
            before: host6ThroughFirst,
            after: "-- ------- \(reason)"
        )
    }
}

extension PathCase {
    static let rules = [
        PathCase(
            name: "a rule that sends a host through another table",
            host: "203.0.113.7",
            setup: Change.twoUplinks + [other],
            change: [.addRule(RuleChange(to: "203.0.113.0/24", .lookUp(100)))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 100 mtu 1500 for 4"
        ),
        PathCase(
            name: "an IPv6 rule that sends a host through another table",
            host: "2001:db8::7",
            setup: Change.twoUplinks + [.route(RouteChange("::/0", via: "fd02::1", table: 100))],
            change: [.addRule(RuleChange(family: .ipv6, to: "2001:db8::/32", .lookUp(100)))],
            undo: [.removeRule(.ipv6, priority: 100)],
            before: host6ThroughFirst,
            after: "-R ------- c1 via fd02::1 from fd02::2 table 100 mtu 1500 for 6"
        ),
        PathCase(
            name: "a rule that forbids our own source",
            host: "203.0.113.7",
            change: [.addRule(RuleChange(from: "10.1.0.2", .prohibit))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: "-- ------- prohibited"
        ),
        PathCase(
            name: "a rule that sends our own source through another table",
            host: "203.0.113.7",
            setup: Change.twoUplinks + [other],
            change: [.addRule(RuleChange(from: "10.1.0.2", .lookUp(100)))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: "-R ------- c1 via 10.2.0.1 from 10.1.0.2 table 100 mtu 1500 for 4"
        ),
        PathCase(
            name: "a rule for packets with our mark",
            host: "203.0.113.7",
            mark: 7,
            setup: Change.twoUplinks + [other],
            change: [.addRule(RuleChange(mark: 7, .lookUp(100)))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 100 mtu 1500 for 4"
        ),
        PathCase(
            name: "a rule for packets with another mark",
            host: "203.0.113.7",
            setup: Change.twoUplinks + [other],
            change: [.addRule(RuleChange(mark: 7, .lookUp(100)))],
            undo: [.removeRule(.ipv4, priority: 100)],
            before: hostThroughFirst,
            after: hostThroughFirst
        ),
    ]

    private static let other = Change.route(RouteChange("0.0.0.0/0", via: "10.2.0.1", table: 100))
}

extension PathCase {
    static let nextHops = [
        PathCase(
            name: "a next hop object is removed, and its route without a word",
            host: "203.0.113.7",
            setup: Change.cable() + object,
            change: [.removeNextHop(1)],
            undo: object,
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "a next hop object is pointed elsewhere",
            host: "203.0.113.7",
            setup: Change.cable() + Change.cable("c1", 2) + object,
            change: [.replaceNextHop(1, via: "10.2.0.1", on: "c1")],
            undo: [.replaceNextHop(1, via: "10.1.0.1", on: "c0")],
            before: hostThroughFirst,
            after: hostThroughSecond
        ),
        PathCase(
            name: "a next hop object does not survive the loss of the carrier",
            host: "203.0.113.7",
            setup: Change.cable() + object,
            change: [.unplug("c0")],
            undo: [.plug("c0")] + object,
            before: hostThroughFirst,
            after: "-- ------- noCarrier c0",
            takesTime: true
        ),
        PathCase(
            name: "an IPv6 next hop object is removed",
            host: "2001:db8::7",
            setup: Change.cable() + object6,
            change: [.removeNextHop(6)],
            undo: object6,
            before: host6ThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "a group loses one of its members",
            host: "203.0.113.7",
            setup: Change.cable() + Change.cable("c1", 2) + [
                .addNextHop(1, via: "10.1.0.1", on: "c0"), .addNextHop(2, via: "10.2.0.1", on: "c1"),
                .addNextHopGroup(10, of: [1, 2]), .route(RouteChange("0.0.0.0/0", nextHop: 10)),
            ],
            change: [.removeNextHop(1)],
            undo: [.removeNextHop(2)] + object,
            before: "-R ------- c*",
            after: hostThroughSecond,
            mayPass: true
        ),
    ]

    private static let object: [Change] = [
        .addNextHop(1, via: "10.1.0.1", on: "c0"), .route(RouteChange("0.0.0.0/0", nextHop: 1)),
    ]

    private static let object6: [Change] = [
        .addNextHop(6, via: "fd01::1", on: "c0"), .route(RouteChange("::/0", nextHop: 6)),
    ]

    static let hops = [
        PathCase(
            name: "both hops are unplugged",
            host: "203.0.113.7",
            setup: Change.cable() + Change.cable("c1", 2) + [.route(twoLegs)],
            change: [.unplug("c0"), .unplug("c1")],
            undo: [.plug("c0"), .plug("c1")],
            before: "-R ------- c*",
            after: "-- ------- noCarrier c*"
        ),
        PathCase(
            name: "one of two hops is set down",
            host: "203.0.113.7",
            setup: Change.cable() + Change.cable("c1", 2) + [.route(twoLegs)],
            change: [.down("c0")],
            undo: [.up("c0")],
            before: "-R ------- c*",
            after: hostThroughSecond
        ),
    ]

    private static let twoLegs = RouteChange("0.0.0.0/0", hops: [("10.1.0.1", "c0"), ("10.2.0.1", "c1")])
}
