extension PathCase {
    static let links = [
        PathCase(
            name: "the uplink is set down",
            change: [.down("c0")],
            undo: upAgain,
            before: throughFirst,
            after: "-- ------- linkDown c0",
            mayPass: true
        ),
        PathCase(
            name: "the uplink is unplugged",
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

    /// Default routes through the second uplink that are used only without the first.
    private static let second: [Change] = [
        .route(RouteChange("0.0.0.0/0", via: "10.2.0.1", metric: 200)),
        .route(RouteChange("::/0", via: "fd02::1", metric: 2000)),
    ]
}

extension PathCase {
    static let devices = [
        PathCase(
            name: "the device is removed and comes back",
            change: [.remove("c0")],
            undo: Change.uplink,
            before: throughFirst,
            after: "-- ------- noInterface",
            mayPass: true
        ),
        PathCase(
            name: "one of two devices is removed",
            setup: Change.twoUplinks,
            change: [.remove("c0")],
            undo: Change.uplink,
            before: throughFirst,
            after: noRoute,
            mayPass: true
        ),
        PathCase(
            name: "the device is renamed",
            change: [.rename("c0", to: "wan0")],
            undo: [.rename("wan0", to: "c0")],
            before: throughFirst,
            after: "-R ------- wan0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46"
        ),
        PathCase(
            name: "a link-local address whose zone is unplugged",
            host: "fe80::9%c0",
            setup: [.add("c0"), .address("fe80::2/64", on: "c0")],
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: "-R ------d c0 from fe80::*",
            after: "-- ------- noCarrier c0 from fe80::*"
        ),
        PathCase(
            name: "a link-local address whose zone gets another name",
            host: "fe80::9%c0",
            setup: [.add("c0"), .address("fe80::2/64", on: "c0")],
            change: [.rename("c0", to: "c9")],
            undo: [.rename("c9", to: "c0")],
            before: "-R ------d c0 from fe80::*",
            after: "-- ------- noInterface"
        ),
        PathCase(
            name: "a link-local address whose zone is removed and made again",
            host: "fe80::9%c0",
            setup: [.add("c0"), .address("fe80::2/64", on: "c0")],
            change: [.remove("c0")],
            undo: [.add("c0"), .address("fe80::2/64", on: "c0")],
            before: "-R ------d c0 from fe80::*",
            after: "-- ------- noInterface",
            mayPass: true
        ),
    ]
}

extension PathCase {
    static let stacked = [
        PathCase(
            name: "a default route through a device that throws packets away",
            host: "203.0.113.7",
            setup: Change.uplink + [.add("s0", .sink), .address("10.3.0.2/24", on: "s0")],
            change: [.replaceRoute(RouteChange("0.0.0.0/0", via: "10.3.0.1"))],
            undo: [.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- discarded s0 via 10.3.0.1 from 10.3.0.2"
        ),
        PathCase(
            name: "a default route through the loopback device",
            host: "203.0.113.7",
            change: [.replaceRoute(RouteChange("0.0.0.0/0", on: "lo"))],
            undo: [.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- discarded lo from 10.1.0.2"
        ),
        PathCase(
            name: "a bridge that never had a port",
            host: "203.0.113.7",
            setup: Change.uplink + [.add("br0", .bridge), .address("10.5.0.2/24", on: "br0")],
            change: [.replaceRoute(RouteChange("0.0.0.0/0", via: "10.5.0.1"))],
            undo: [.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- noCarrier br0 via 10.5.0.1 from 10.5.0.2"
        ),
        PathCase(
            name: "a bridge without a live port",
            setup: bridge,
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: "-R ------- br0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46",
            after: "-- ------- noCarrier br0 via 10.1.0.1 from 10.1.0.2",
            takesTime: true,
            mayPass: true
        ),
        PathCase(
            name: "a macvlan on a link that is unplugged",
            setup: macvlan,
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: "-R ------- mv0/c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46",
            after: "-- ------- noCarrier mv0/c0 via 10.1.0.1 from 10.1.0.2",
            takesTime: true
        ),
        PathCase(
            name: "a macvlan on a link that is set down",
            setup: macvlan,
            change: [.down("c0")],
            undo: [.up("c0")],
            before: "-R ------- mv0/c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46",
            after: "-- ------- noCarrier mv0/c0 via 10.1.0.1 from 10.1.0.2",
            takesTime: true
        ),
        PathCase(
            name: "a vxlan over a link that is unplugged",
            host: "203.0.113.7",
            setup: [
                .add("c0"), .address("10.1.0.2/24", on: "c0"), .add("vx0", .vxlan, over: "c0"),
                .address("10.50.0.2/24", on: "vx0"), .route(RouteChange("0.0.0.0/0", via: "10.50.0.1")),
            ],
            change: [.unplug("c0")],
            undo: [.plug("c0")],
            before: "-R ------- vx0/c0 via 10.50.0.1 from 10.50.0.2 table 254 mtu 1450 for 4",
            after: "-- ------- noCarrier vx0/c0 via 10.50.0.1 from 10.50.0.2"
        ),
    ]

    private static let bridge: [Change] =
        [
            .add("c0"), .add("br0", .bridge), .attach("c0", to: "br0"), .address("10.1.0.2/24", on: "br0"),
            .address("fd01::2/64", on: "br0"),
        ] + Change.defaults(Change.addRoute)

    private static let macvlan: [Change] =
        [
            .add("c0"), .add("mv0", .macvlan, over: "c0"), .address("10.1.0.2/24", on: "mv0"),
            .address("fd01::2/64", on: "mv0"),
        ] + Change.defaults(Change.addRoute)
}

extension PathCase {
    static let modems = [
        PathCase(
            name: "a point-to-point modem loses and finds the network",
            setup: modem("wwan0", .pointToPoint),
            change: [.unplug("wwan0")],
            undo: [.plug("wwan0")],
            before: "WR -t----d wwan0 from 10.60.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- noCarrier wwan0 from 10.60.0.2"
        ),
        PathCase(
            name: "a raw IP modem loses and finds the network",
            setup: modem("w0", .rawIP),
            change: [.unplug("w0")],
            undo: [.plug("w0")],
            before: "WR ------d w0 from 10.60.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- noCarrier w0 from 10.60.0.2"
        ),
        PathCase(
            name: "the modem takes over from the cable",
            setup: Change.uplink + modem("w0", .rawIP, metric: 5000),
            change: [.down("c0")],
            undo: upAgain,
            before: throughFirst,
            after: "WR ------d w0 from 10.60.0.2 table 254 mtu 1500 for 4"
        ),
        PathCase(
            name: "a tunnel's program takes the carrier away",
            setup: modem("t0", .tunnel),
            change: [.unplug("t0")],
            undo: [.plug("t0")],
            before: "-R ------d t0 from 10.60.0.2 table 254 mtu 1500 for 4",
            after: "-- ------- noCarrier t0 from 10.60.0.2"
        ),
        PathCase(
            name: "a program sets a tunnel to dormant",
            setup: modem("t0", .tunnel),
            change: [.waits("t0")],
            undo: [.awake("t0")],
            before: "-R ------d t0 from 10.60.0.2 table 254 mtu 1500 for 4",
            after: "-R c------ dormant t0 from 10.60.0.2"
        ),
    ]

    private static func modem(_ name: String, _ kind: Change.LinkKind, metric: UInt32? = nil) -> [Change] {
        [
            .add(name, kind), .address("10.60.0.2/24", on: name),
            .route(RouteChange("0.0.0.0/0", on: name, metric: metric)),
        ]
    }
}
