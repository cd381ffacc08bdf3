package import LinuxSupport

/// Three namespaces: a client with two uplinks `c0` and `c1`, a router that forwards, and a server with the addresses
/// of the internet. Every namespace has an echo server on each of its addresses.
///
///     client c0 10.1.0.2 fd01::2 - r0 10.1.0.1 fd01::1 router rs 10.3.0.1 fd03::1 - sr 10.3.0.2 fd03::2 server
///            c1 10.2.0.2 fd02::2 - r1 10.2.0.1 fd02::1
package final class Topology: Sendable {
    /// The initial settings of the client.
    package enum Uplinks: Sendable {
        /// `c0` and `c1` exist. They are down and have no addresses.
        case none
        /// `c0` is up and has addresses, but there is no default route.
        case one
        /// Like `one`, with default routes of both families through `c0`.
        case oneWithDefaults
        /// `c0` and `c1` are up and have addresses. The default routes use `c0`.
        case two
    }

    /// A host on the internet that does not represent the network at large.
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
            // Link-local addresses are usable at once. A scenario about duplicate address detection enables it again.
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

    /// Closes the namespaces. Calling it twice has no effect.
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

    /// Returns the commands that set a device up as host number `host` of network number `device[1]`.
    private static func addresses(of device: [Substring], host: Int) -> [String] {
        let (name, network) = (device[0], device[1])
        return [
            "link set \(name) up",
            "addr add 10.\(network).0.\(host)/24 dev \(name)",
            "addr add fd0\(network)::\(host)/64 dev \(name) nodad",
        ]
    }
}

/// The addresses that represent the network at large. It is reachable if a majority of one family is.
package enum LargeNetwork {
    package static let ipv4 = [
        "1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33",
    ]
    package static let ipv6 = [
        "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1",
    ]

    package static func isReachable(_ addresses: Set<String>) -> Bool {
        [ipv4, ipv6].contains { family in
            addresses.intersection(family).count * 2 > family.count
        }
    }
}

/// Namespaces in a row: a machine, routers, and a last namespace that has the addresses of the internet.
///
///     first 10.1.0.2 fd01::2 - 10.1.0.1 fd01::1 second 10.9.0.1 fd09::1 - 10.9.0.2 fd09::2 third ... 203.0.113.7 fd77::10
///
/// The first namespace has a default route to the second, and all others have a route back to the first. Users of the
/// chain add further routes.
package final class LabRow: Sendable {
    /// A cable between a station and the next one. Both interfaces have addresses in 10.NETWORK.0.0/24 and
    /// fd0NETWORK::/64.
    package struct Cable: Sendable {
        package let (near, far): (String, String)
        package let network: Int
        package let (nearHost, farHost): (Int, Int)

        package init(_ near: (name: String, host: Int), _ far: (name: String, host: Int), network: Int) {
            (self.near, self.far, self.network) = (near.name, far.name, network)
            (nearHost, farHost) = (near.host, far.host)
        }
    }

    package let stations: [LabNamespace]

    /// The addresses of one host on the internet in both families.
    package static let hosts = ["203.0.113.7", "fd77::10"]

    package static func host(_ family: AddressFamily) -> String { hosts[family == .ipv4 ? 0 : 1] }

    /// Creates the chain. Blocks the thread.
    ///
    /// - Parameter isPatient: Whether routers limit their errors and wait for neighbours like real ones. Otherwise
    ///   they send every error, and stop waiting for a neighbour after a tenth of a second.
    package init(_ cables: [Cable], isPatient: Bool) throws {
        stations = try (0...cables.count).map { _ in try LabNamespace() }
        for (number, station) in stations.enumerated() {
            try Self.prepare(station, isRouter: number > 0, isPatient: isPatient)
        }
        for (number, cable) in cables.enumerated() {
            try Self.connect(stations[number], stations[number + 1], cable, isPatient: isPatient)
        }
        guard let first = cables.first else { return }
        try stations[0].ip(
            "route add default via 10.\(first.network).0.\(first.farHost)",
            "route add default via fd0\(first.network)::\(first.farHost)"
        )
        for (station, cable) in zip(stations.dropFirst(2), cables.dropFirst()) {
            try station.ip(
                "route add 10.\(first.network).0.0/24 via 10.\(cable.network).0.\(cable.nearHost)",
                "route add fd0\(first.network)::/64 via fd0\(cable.network)::\(cable.nearHost)"
            )
        }
        try stations[cables.count].ip(
            "addr add \(Self.host(.ipv4))/32 dev lo",
            "addr add \(Self.host(.ipv6))/128 dev lo nodad"
        )
    }

    /// Creates a machine with the interface `p0`, its gateway with `g0` and `g1`, and a provider with `v0`. The provider drops packets to
    /// addresses without a host.
    package static func toProvider(isPatient: Bool) throws -> LabRow {
        let cables = [Cable(("p0", 2), ("g0", 1), network: 1), Cable(("g1", 1), ("v0", 2), network: 9)]
        let row = try LabRow(cables, isPatient: isPatient)
        try row.stations[1].ip("route add default via 10.9.0.2", "route add default via fd09::2")
        try row.stations[2].ip(
            "link add d0 type veth peer name d1",
            "link set d1 up",
            "link set d0 up",
            "route add default dev d0",
            "-6 route add default dev d0"
        )
        return row
    }

    /// Closes the namespaces. Calling it twice has no effect.
    package func close() {
        for station in stations { station.close() }
    }

    /// Enables or disables the forwarding of a station.
    package static func forward(_ isOn: Bool, in station: LabNamespace) throws {
        for name in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] {
            try station.sysctl(name, isOn ? "1" : "0")
        }
    }

    private static func prepare(_ station: LabNamespace, isRouter: Bool, isPatient: Bool) throws {
        var settings = [
            ("net.ipv6.conf.default.accept_dad", "0"), ("net.ipv6.conf.all.accept_dad", "0"),
            // A user namespace may have a single group.
            ("net.ipv4.ping_group_range", LabThread.canBecomeNobody ? "0 65534" : "0 0"),
        ]
        if !isPatient { settings += [("net.ipv4.icmp_ratelimit", "0"), ("net.ipv6.icmp.ratelimit", "0")] }
        for (name, value) in settings { try station.sysctl(name, value) }
        try station.ip("link set lo up")
        if isRouter { try forward(true, in: station) }
    }

    private static func connect(
        _ near: LabNamespace,
        _ far: LabNamespace,
        _ cable: Cable,
        isPatient: Bool
    ) throws {
        try near.ip("link add \(cable.near) type veth peer name \(cable.far) netns \(far.path)")
        for (station, name, host) in [(near, cable.near, cable.nearHost), (far, cable.far, cable.farHost)] {
            try station.ip(
                "link set \(name) up",
                "addr add 10.\(cable.network).0.\(host)/24 dev \(name)",
                "addr add fd0\(cable.network)::\(host)/64 dev \(name) nodad"
            )
            guard !isPatient else { continue }
            for family in ["ipv4", "ipv6"] {
                try station.sysctl("net.\(family).neigh.\(name).retrans_time_ms", "50")
                try station.sysctl("net.\(family).neigh.\(name).mcast_solicit", "2")
            }
        }
    }
}
