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
            name: "a program is to say when a tunnel is operational, and says so",
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
