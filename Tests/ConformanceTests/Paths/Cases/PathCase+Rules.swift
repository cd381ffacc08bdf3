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
            setup: Change.uplink,
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
