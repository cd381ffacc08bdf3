/// Three namespaces: a client with two uplinks `c0` and `c1`, a router that forwards, and a server that owns the
/// addresses of the world. Every namespace echoes on every address it has.
///
///     client c0 10.1.0.2 fd01::2 - r0 10.1.0.1 fd01::1 router rs 10.3.0.1 fd03::1 - sr 10.3.0.2 fd03::2 server
///            c1 10.2.0.2 fd02::2 - r1 10.2.0.1 fd02::1
package final class Topology: Sendable {
    /// Which of the client's settings are made at the start.
    package enum Uplinks: Sendable {
        /// `c0` and `c1` exist, are down and have no addresses.
        case none
        /// `c0` is up and has addresses, but there is no default route.
        case one
        /// As `one`, and the default routes of both families go through `c0`.
        case oneWithDefaults
        /// `c0` and `c1` are up and have addresses; the default routes go through `c0`.
        case two
    }

    /// A host of the world that is not among those standing for the network at large.
    package static let hosts = ["203.0.113.7", "fd77::10"]

    package let client: LabNamespace
    package let router: LabNamespace
    package let server: LabNamespace
    package let oracle: PacketOracle
    private let echo: EchoServer

    package init(_ uplinks: Uplinks = .oneWithDefaults) throws {
        client = try LabNamespace()
        router = try LabNamespace()
        server = try LabNamespace()
        oracle = PacketOracle(in: client)
        for namespace in [client, router, server] {
            // Link-local addresses are usable at once; a scenario about their detection turns it on again.
            try namespace.sysctl("net.ipv6.conf.default.accept_dad", "0")
            try namespace.sysctl("net.ipv6.conf.all.accept_dad", "0")
        }
        try router.sysctl("net.ipv4.ip_forward", "1")
        try router.sysctl("net.ipv6.conf.all.forwarding", "1")
        try client.ip(
            "link set lo up",
            Topology.link("c0", "02:00:00:00:01:02", to: "r0", "02:00:00:00:01:01", in: router),
            Topology.link("c1", "02:00:00:00:02:02", to: "r1", "02:00:00:00:02:01", in: router)
        )
        try router.ip(
            ["link set lo up", "link add rs type veth peer name sr netns \(server.path)"]
                + ["rs 3", "r0 1", "r1 2"].flatMap { Topology.addresses(of: $0.split(separator: " "), host: 1) }
                + ["route add default via 10.3.0.2", "route add default via fd03::2"]
        )
        let world = LargeNetwork.ipv4 + LargeNetwork.ipv6 + Topology.hosts + ["10.77.0.10"]
        try server.ip(
            ["link set lo up"] + Topology.addresses(of: ["sr", "3"], host: 2)
                + world.map { "addr add \($0)/\($0.contains(":") ? 128 : 32) dev lo" }
                + ["route add default via 10.3.0.1", "route add default via fd03::1"]
        )
        try client.ip(Topology.commands(for: uplinks))
        echo = try EchoServer(in: [client, router, server])
    }

    /// Ends everything. Doing it twice does nothing.
    package func close() {
        echo.stop()
        for namespace in [client, router, server] {
            namespace.close()
        }
    }

    private static func commands(for uplinks: Uplinks) -> [String] {
        let defaults = ["route add default via 10.1.0.1", "route add default via fd01::1"]
        let first = addresses(of: ["c0", "1"], host: 2)
        return switch uplinks {
        case .none: []
        case .one: first
        case .oneWithDefaults: first + defaults
        case .two: first + addresses(of: ["c1", "2"], host: 2) + defaults
        }
    }

    private static func link(
        _ name: String,
        _ address: String,
        to peer: String,
        _ peerAddress: String,
        in namespace: LabNamespace
    ) -> String {
        "link add \(name) address \(address) type veth peer name \(peer) address \(peerAddress) netns \(namespace.path)"
    }

    /// The commands that bring a device up as host number `host` of network number `device[1]`.
    private static func addresses(of device: [Substring], host: Int) -> [String] {
        let (name, network) = (device[0], device[1])
        return [
            "link set \(name) up",
            "addr add 10.\(network).0.\(host)/24 dev \(name)",
            "addr add fd0\(network)::\(host)/64 dev \(name) nodad",
        ]
    }
}
