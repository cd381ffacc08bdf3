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
            setup: Change.uplink,
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
