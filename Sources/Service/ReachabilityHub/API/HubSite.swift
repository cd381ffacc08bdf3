import LinuxPrimitives
import ReachabilityFleet
import ReachabilityServer

/// A site, with how many of its machines are how.
struct HubSite {
    let name: String
    private(set) var standings: [DevicePresence.Standing: Int] = [:]
    /// How many are silent, and nobody knows why.
    private(set) var unexplained = 0
    /// Its open incidents, the latest first.
    private(set) var incidents: [FleetIncident] = []

    private init(name: String) {
        self.name = name
    }

    var deviceCount: Int { standings.values.reduce(0, +) }

    func count(_ standing: DevicePresence.Standing) -> Int { standings[standing] ?? 0 }

    /// All of them, in the order of their names.
    static func all(_ hub: Hub) -> [HubSite] {
        var sites: [String: HubSite] = [:]
        for device in hub.devices.values {
            let name = device.place.site
            var site = sites.removeValue(forKey: name) ?? HubSite(name: name)
            site.standings[device.presence.standing, default: 0] += 1
            if hub.isUnexplained(device.place) { site.unexplained += 1 }
            sites[name] = site
        }
        for incident in hub.book.incidents where incident.isOpen {
            sites[incident.site]?.incidents.append(incident)
        }
        return sites.values.sorted { $0.name < $1.name }
    }

    /// The sites with the most machines, in the order of their names, and behind them one that has what all others have.
    static func largest(_ limit: Int, of sites: [HubSite], others name: String) -> [HubSite] {
        guard sites.count > limit else { return sites }
        let ranked = sites.sorted { ($1.deviceCount, $0.name) < ($0.deviceCount, $1.name) }
        var others = HubSite(name: name)
        for site in ranked.dropFirst(limit) {
            others.standings.merge(site.standings, uniquingKeysWith: +)
            others.unexplained += site.unexplained
            others.incidents += site.incidents
        }
        return ranked.prefix(limit).sorted { $0.name < $1.name } + [others]
    }

    var item: Item {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("site", name)
        object.add("deviceCount", deviceCount)
        for standing in DevicePresence.Standing.allCases { object.add(standing.rawValue, count(standing)) }
        object.add("unexplained", unexplained)
        object.add("incidents", incidents.map(\.id))
        object.add("kind", "site")
        let counts = DevicePresence.Standing.allCases.compactMap { standing in
            count(standing) > 0 ? "\(count(standing)) \(standing.rawValue)" : nil
        }
        return Item(key: name, object: object, text: "\(name): \(counts.joined(separator: ", "))")
    }
}
