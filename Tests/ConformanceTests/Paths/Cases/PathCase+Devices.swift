extension PathCase {
    static let devices = [
        PathCase(
            name: "the device is removed and comes back",
            setup: Change.uplink,
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
            setup: Change.uplink,
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
