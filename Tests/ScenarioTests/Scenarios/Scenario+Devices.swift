import NetworkLab

extension Scenario {
    /// Devices that come, go, move or change their clothes.
    static let devices = [
        Scenario(
            id: "g1",
            title: "device moved to another namespace and back",
            change: "C link set c0 netns $S",
            undo: "S link set c0 netns $C; C link set c0 up; C addr add 10.1.0.2/24 dev c0; \(addresses6); \(defaults)",
            after: ""
        ),
        Scenario(id: "h1", title: "device deleted and made again", change: "C link del c0", undo: newPair, after: ""),
        Scenario(
            id: "h2",
            title: "device deleted from its far end and made again",
            change: "R link del r0",
            undo: newPair,
            after: ""
        ),
        Scenario(
            id: "f1",
            title: "device renamed",
            change: "C link set c0 name wan0",
            undo: "C link set wan0 name c0",
            after: "g46"
        ),
        Scenario(
            id: "f2",
            title: "device renamed, then unplugged",
            setup: "C link set c0 name wan0",
            change: unplug,
            undo: plug,
            after: ""
        ),
        Scenario(
            id: "g2",
            title: "uplink that appears after the start",
            uplinks: .none,
            change: "C link set c0 up; C addr add 10.1.0.2/24 dev c0; C route add default via 10.1.0.1",
            undo: "C link set c0 down",
            before: "",
            after: "g4",
            back: ""
        ),
    ]

    /// Two uplinks of which one fails.
    static let uplinkPairs = [
        Scenario(
            id: "n5",
            title: "first uplink switched off, the second takes over",
            uplinks: .two,
            setup: backup,
            change: "C link set c0 down",
            undo: upAgain,
            after: "g46",
            quiet: .milliseconds(1300)
        ),
        Scenario(
            id: "n6",
            title: "both uplinks switched off",
            uplinks: .two,
            setup: backup,
            change: "C link set c0 down; C link set c1 down",
            undo: upAgain,
            after: ""
        ),
        Scenario(
            id: "n7",
            title: "first uplink deleted, the second takes over",
            uplinks: .two,
            setup: backup,
            change: "C link del c0",
            undo: newPair,
            after: "g46"
        ),
        Scenario(
            id: "n8",
            title: "second uplink alone, unplugged",
            uplinks: .two,
            setup: "\(backup); C link set c0 down",
            change: "R link set r1 down",
            undo: "R link set r1 up; R addr add fd02::1/64 dev r1 nodad",
            after: ""
        ),
        Scenario(
            id: "n9",
            title: "idle second uplink unplugged",
            uplinks: .two,
            setup: backup,
            change: "R link set r1 down",
            undo: "R link set r1 up; R addr add fd02::1/64 dev r1 nodad",
            after: "g46",
            quiet: .milliseconds(1300)
        ),
    ]
}
