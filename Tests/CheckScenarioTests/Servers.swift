import NetworkLab
import WebLab

/// The name servers and web servers of a world.
final class Servers: Sendable {
    private let names: [NameServer]
    private let sites: [WebServer]

    /// Returns the known names.
    private static func zone(_ extra: [String: [String]]) -> [String: [String]] {
        var zone = extra
        for (name, spot) in [("anchor", Spot.anchor), ("second", .secondAnchor), ("host", .host)] {
            zone["\(name).example"] = zone["\(name).example"] ?? [spot.address(.ipv4), spot.address(.ipv6)]
        }
        zone["portal.example"] = ["192.168.1.1", "3fff:1::1"]
        zone["empty.example"] = []
        return zone
    }

    init(of situation: Situation, in world: World) async throws {
        let zone = Self.zone(situation.zone)
        names = try await LabThread.detached {
            let first = try NameServer(
                in: world[.internet],
                at: [Spot.resolver.address(.ipv4), Spot.resolver.address(.ipv6)],
                zone: zone,
                situation.names
            )
            if !situation.exceptions.isEmpty { try first.behave(situation.names, but: situation.exceptions) }
            let second = try NameServer(
                in: world[.internet],
                at: [Spot.secondResolver.address(.ipv4), Spot.secondResolver.address(.ipv6)],
                zone: zone,
                situation.secondNames
            )
            guard let router = situation.routerNames else { return [first, second] }
            let own = try NameServer(
                in: world[.router],
                at: ["192.168.1.1", "3fff:1::1", "fe80::1%r0"],
                zone: zone,
                router
            )
            return [first, second, own]
        }
        var sites: [WebServer] = []
        for site in situation.sites {
            let server = try await WebServer(
                in: world[site.station],
                port: site.port,
                identity: site.identity,
                site.behaviour
            )
            server.setClock(ahead: site.ahead)
            sites.append(server)
        }
        self.sites = sites
    }

    /// Stops all servers. Blocks no task.
    func stop() async {
        for site in sites { await site.close() }
        let names = names
        _ = try? await LabThread.detached { for server in names { server.stop() } }
    }
}
