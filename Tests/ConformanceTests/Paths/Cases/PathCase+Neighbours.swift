/// IPv6 passes over routers that have failed as neighbours, while there is another way (RFC 4191, 3.2). No route changes.
extension PathCase {
    /// A second default route that comes after the first by its metric.
    private static let spare = Change.twoUplinks + [.route(RouteChange("::/0", via: "fd02::1", metric: 2000))]
    private static let host6ThroughSecond = "-R ------- c1 via fd02::1 from fd02::2 table 254 mtu 1500 for 6"

    static let neighbours = [
        PathCase(
            name: "the first of two IPv6 routers fails",
            host: "2001:db8::7",
            setup: spare,
            change: [.neighbourFails("fd01::1", on: "c0")],
            undo: [.neighbourAnswers("fd01::1", on: "c0")],
            before: host6ThroughFirst,
            after: host6ThroughSecond
        ),
        PathCase(
            name: "the first of two IPv6 routers fails and is forgotten",
            host: "2001:db8::7",
            setup: spare,
            change: [.neighbourFails("fd01::1", on: "c0")],
            undo: [.forgetNeighbour("fd01::1", on: "c0")],
            before: host6ThroughFirst,
            after: host6ThroughSecond
        ),
        PathCase(
            name: "a wider route stands in for one whose IPv6 router fails",
            host: "2001:db8::7",
            setup: Change.twoUplinks + [
                .route(RouteChange("2001:db8::/32", via: "fd01::1")), .removeRoute(RouteChange("::/0", via: "fd01::1")),
                .route(RouteChange("::/0", via: "fd02::1")),
            ],
            change: [.neighbourFails("fd01::1", on: "c0")],
            undo: [.neighbourAnswers("fd01::1", on: "c0")],
            before: host6ThroughFirst,
            after: host6ThroughSecond
        ),
        PathCase(
            name: "the only IPv6 router fails",
            host: "2001:db8::7",
            setup: Change.uplink,
            change: [.neighbourFails("fd01::1", on: "c0")],
            undo: [.neighbourAnswers("fd01::1", on: "c0")],
            before: host6ThroughFirst,
            after: host6ThroughFirst
        ),
        PathCase(
            name: "both IPv6 routers fail, then the second answers",
            host: "2001:db8::7",
            setup: spare + [.neighbourFails("fd01::1", on: "c0"), .neighbourFails("fd02::1", on: "c1")],
            change: [.neighbourAnswers("fd02::1", on: "c1")],
            undo: [.neighbourFails("fd02::1", on: "c1")],
            before: host6ThroughFirst,
            after: host6ThroughSecond
        ),
        PathCase(
            name: "an IPv4 router that fails is not passed over",
            host: "203.0.113.7",
            setup: Change.twoUplinks + [.route(RouteChange("0.0.0.0/0", via: "10.2.0.1", metric: 2000))],
            change: [.neighbourFails("10.1.0.1", on: "c0")],
            undo: [.neighbourAnswers("10.1.0.1", on: "c0")],
            before: hostThroughFirst,
            after: hostThroughFirst
        ),
    ]
}
