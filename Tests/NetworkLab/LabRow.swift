package import LinuxSupport

/// Namespaces in a row: a machine, and behind it routers that forward to the last, who owns the addresses of the world.
///
///     first 10.1.0.2 fd01::2 - 10.1.0.1 fd01::1 second 10.9.0.1 fd09::1 - 10.9.0.2 fd09::2 third ... 203.0.113.7 fd77::10
///
/// The first sends everything to the second, and all others know the way back to it. Where else they send what is not for them is for
/// whoever builds on this.
package final class LabRow: Sendable {
    /// Connects a station with the next: both interfaces have addresses in 10.NETWORK.0.0/24 and fd0NETWORK::/64.
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

    /// The same host of the world, by both families.
    package static let hosts = ["203.0.113.7", "fd77::10"]

    package static func host(_ family: AddressFamily) -> String { hosts[family == .ipv4 ? 0 : 1] }

    /// Builds it. Blocks.
    ///
    /// - Parameter isPatient: Whether routers send errors as seldom, and wait for neighbours as long, as routers do; else they answer as
    ///   often as asked, and give neighbours up after a tenth of a second.
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

    /// Lets all of it go. Doing it twice does nothing.
    package func close() {
        for station in stations { station.close() }
    }

    /// Whether a station sends on what is not for it.
    package static func forward(_ isOn: Bool, in station: LabNamespace) throws {
        for name in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] {
            try station.sysctl(name, isOn ? "1" : "0")
        }
    }

    private static func prepare(_ station: LabNamespace, isRouter: Bool, isPatient: Bool) throws {
        var settings = [
            ("net.ipv6.conf.default.accept_dad", "0"), ("net.ipv6.conf.all.accept_dad", "0"),
            // In a user namespace there may be a single group.
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
