extension Scenario {
    /// Devices on top of others.
    static let stacked = [
        Scenario(
            id: "o1",
            title: "bridge loses its only live port",
            setup: bridged,
            change: unplug,
            undo: plug,
            after: ""
        ),
        Scenario(
            id: "o1-released",
            title: "bridge releases its only port",
            setup: bridged,
            change: "C link set c0 nomaster",
            undo: "C link set c0 master br0",
            after: ""
        ),
        Scenario(
            id: "o1-off",
            title: "bridge switched off and on",
            setup: bridged,
            change: "C link set br0 down",
            undo: "C link set br0 up; C addr add fd01::2/64 dev br0 nodad; \(defaults)",
            after: ""
        ),
        Scenario(
            id: "o1-port-off",
            title: "only port of a bridge switched off and on",
            setup: bridged,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            after: ""
        ),
        Scenario(
            id: "o2",
            title: "macvlan on an unplugged device",
            setup: macvlan,
            change: unplug,
            undo: plug,
            after: ""
        ),
        Scenario(
            id: "o2-off",
            title: "macvlan on a device switched off and on",
            setup: macvlan,
            change: "C link set c0 down",
            undo: "C link set c0 up",
            after: ""
        ),
        Scenario(
            id: "o2-gone",
            title: "macvlan deleted and made again",
            setup: macvlan,
            change: "C link del mv0",
            undo: macvlanAgain,
            after: ""
        ),
    ]

    private static let bridged = """
        C addr flush dev c0; C link add br0 type bridge; C link set c0 master br0; C link set br0 up
        C addr add 10.1.0.2/24 dev br0; C addr add fd01::2/64 dev br0 nodad
        C -6 route flush default; \(defaults)
        """

    private static let macvlan = "C addr flush dev c0; C -6 route flush default; \(macvlanAgain)"

    private static let macvlanAgain = """
        C link add mv0 link c0 type macvlan mode bridge; C link set mv0 up
        C addr add 10.1.0.2/24 dev mv0; C addr add fd01::2/64 dev mv0 nodad; \(defaults)
        """
}
