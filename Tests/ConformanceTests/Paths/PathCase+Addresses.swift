extension PathCase {
    static let addresses = [
        PathCase(
            name: "the last IPv4 address goes, and all IPv4 routes without a word",
            host: "203.0.113.7",
            change: [.removeAddress("10.1.0.2/24", from: "c0")],
            undo: [.address("10.1.0.2/24", on: "c0"), .route(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "IPv4 goes, IPv6 stays",
            change: [.removeAddress("10.1.0.2/24", from: "c0")],
            undo: [.address("10.1.0.2/24", on: "c0"), .route(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: throughFirst,
            after: host6ThroughFirst
        ),
        PathCase(
            name: "the last IPv6 address goes, and the default route stays",
            host: "2001:db8::7",
            setup: Change.uplink + [.address("fe80::2/64", on: "c0")],
            change: [.removeAddress("fd01::2/64", from: "c0")],
            undo: [.address("fd01::2/64", on: "c0")],
            before: host6ThroughFirst,
            after: "-- ------- noSourceAddress c0 via fd01::1"
        ),
        PathCase(
            name: "a second IPv4 address goes",
            setup: Change.uplink + [.address("10.9.0.2/24", on: "c0")],
            change: [.removeAddress("10.9.0.2/24", from: "c0")],
            undo: [.address("10.9.0.2/24", on: "c0")],
            before: throughFirst,
            after: throughFirst
        ),
        PathCase(
            name: "an address of 169.254.0.0/16 with global scope, whose router leads everywhere",
            host: "203.0.113.7",
            setup: [.add("c0")],
            change: [
                .address("169.254.129.3/24", on: "c0"), .route(RouteChange("0.0.0.0/0", via: "169.254.129.1")),
            ],
            undo: [.removeAddress("169.254.129.3/24", from: "c0")],
            before: noRoute,
            after: "-R ------- c0 via 169.254.129.1 from 169.254.129.3 table 254 mtu 1500 for 4"
        ),
        PathCase(
            name: "a neighbour needs no router",
            host: "10.1.0.9",
            setup: Change.cable(),
            change: [.removeAddress("10.1.0.2/24", from: "c0")],
            undo: [.address("10.1.0.2/24", on: "c0")],
            before: "-R ------d c0 from 10.1.0.2 table 254 mtu 1500 for 4",
            after: noRoute
        ),
    ]
}

extension PathCase {
    static let ownAddresses = [
        PathCase(
            name: "the loopback address while the loopback device is set down",
            host: "127.0.0.1",
            setup: Change.cable(),
            change: [.down("lo")],
            undo: [.up("lo")],
            before: "-R -----l- lo from 127.0.0.1 table 254 mtu 65536 for 4",
            after: "-- ------- linkDown lo from 127.0.0.1"
        ),
        PathCase(
            name: "the IPv6 loopback address without any other device",
            host: "::1",
            setup: [],
            change: [.down("lo")],
            undo: [.up("lo")],
            before: "-R -----l- lo from ::1 table 255 mtu 65536 for 6",
            after: "-- ------- linkDown lo"
        ),
        PathCase(
            name: "an address of our own that is given up",
            host: "10.1.0.2",
            setup: Change.cable(),
            change: [.removeAddress("10.1.0.2/24", from: "c0")],
            undo: [.address("10.1.0.2/24", on: "c0")],
            before: "-R -----l- lo from 10.1.0.2 table 254 mtu 65536 for 4",
            after: noRoute
        ),
        PathCase(
            name: "an address of our own on a link that is unplugged",
            host: "10.1.0.2",
            setup: Change.cable(),
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: "-R -----l- lo from 10.1.0.2 table 254 mtu 65536 for 4",
            after: "-R -----l- lo from 10.1.0.2 table 254 mtu 65536 for 4"
        ),
        PathCase(
            name: "a foreign address made local",
            host: "203.0.113.7",
            change: [.route(RouteChange("203.0.113.7/32", on: "lo", .local))],
            undo: [.removeRoute(RouteChange("203.0.113.7/32", on: "lo", .local))],
            before: hostThroughFirst,
            after: "-R -----l- lo *"
        ),
    ]

    static let lifetimes = [
        PathCase(
            name: "an IPv6 route expires without an event",
            host: "2001:db8::7",
            setup: Change.cable() + [.route(RouteChange("::/0", via: "fd01::1").expiring(after: 3))],
            change: [.pass(.seconds(4))],
            undo: [.replaceRoute(RouteChange("::/0", via: "fd01::1"))],
            before: host6ThroughFirst,
            after: noRoute,
            takesTime: true
        )
    ]
}

/// IPv6 skips routers whose neighbour state is failed if there is another path (RFC 4191, 3.2). No route changes.
extension PathCase {
    /// A second default route with a higher metric.
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
