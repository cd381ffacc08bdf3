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
