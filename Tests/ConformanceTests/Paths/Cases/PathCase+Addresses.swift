extension PathCase {
    static let addresses = [
        PathCase(
            name: "the last IPv4 address goes, and all IPv4 routes without a word",
            host: "203.0.113.7",
            setup: Change.uplink,
            change: [.removeAddress("10.1.0.2/24", from: "c0")],
            undo: [.address("10.1.0.2/24", on: "c0"), .route(RouteChange("0.0.0.0/0", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "IPv4 goes, IPv6 stays",
            setup: Change.uplink,
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
