extension PathCase {
    static let links = [
        PathCase(
            name: "the uplink is set down",
            setup: Change.uplink,
            change: [.down("c0")],
            undo: upAgain,
            before: throughFirst,
            after: "-- ------- linkDown c0",
            mayPass: true
        ),
        PathCase(
            name: "the uplink is unplugged",
            setup: Change.uplink,
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: throughFirst,
            after: "-- ------- noCarrier c0 via 10.1.0.1 from 10.1.0.2"
        ),
        PathCase(
            name: "the first of two uplinks is set down, the second takes over",
            setup: Change.twoUplinks + second,
            change: [.down("c0")],
            undo: upAgain,
            before: throughFirst,
            after: throughSecond
        ),
        PathCase(
            name: "the first of two uplinks is unplugged, and its routes stay",
            setup: Change.twoUplinks + second,
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: throughFirst,
            after: "-- ------- noCarrier c0 via 10.1.0.1 from 10.1.0.2"
        ),
        PathCase(
            name: "the second of two uplinks is set down, which nobody uses",
            setup: Change.twoUplinks + second,
            change: [.down("c1")],
            undo: [.up("c1")],
            before: throughFirst,
            after: throughFirst
        ),
        PathCase(
            name: "the uplink becomes dormant",
            setup: Change.uplink,
            change: [.dormant("c0")],
            undo: [.awake("c0")],
            before: throughFirst,
            after: "-R c------ dormant c0 via 10.1.0.1 from 10.1.0.2",
            takesTime: true,
            mayPass: true
        ),
        PathCase(
            name: "IPv4 through an IPv6 router, set down",
            host: "203.0.113.7",
            setup: Change.cable() + [.route(RouteChange("0.0.0.0/0", via: "fd01::1", on: "c0"))],
            change: [.down("c0")],
            undo: [
                .up("c0"), .address("fd01::2/64", on: "c0"),
                .route(RouteChange("0.0.0.0/0", via: "fd01::1", on: "c0")),
            ],
            before: "-R ------- c0 via fd01::1 from 10.1.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- linkDown c0"
        ),
    ]

    /// Default routes through the second uplink that count only without the first.
    private static let second: [Change] = [
        .route(RouteChange("0.0.0.0/0", via: "10.2.0.1", metric: 200)),
        .route(RouteChange("::/0", via: "fd02::1", metric: 2000)),
    ]
}
