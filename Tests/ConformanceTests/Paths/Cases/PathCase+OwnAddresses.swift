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
            setup: Change.uplink,
            change: [.route(RouteChange("203.0.113.7/32", on: "lo", .local))],
            undo: [.removeRoute(RouteChange("203.0.113.7/32", on: "lo", .local))],
            before: hostThroughFirst,
            after: "-R -----l- lo *"
        ),
    ]

    static let lifetimes = [
        PathCase(
            name: "an IPv6 route expires, and nobody says so",
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
