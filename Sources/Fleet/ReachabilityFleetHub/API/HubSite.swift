import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// A site with the numbers of its devices.
struct HubSite {
    let name: String
    private(set) var standings: [DevicePresence.Standing: Int] = [:]
    /// The numbers of devices by state, for the bars of the dashboard.
    private(set) var accounts: [LedgerAccount: Int] = [:]
    /// The number of devices that are silent or have an open outage.
    private(set) var affected = 0
    /// The numbers of devices that are not silent and have an open outage, by their state, such as `without link`.
    private(set) var faults: [String: Int] = [:]
    /// The number of devices that are silent for an unknown reason.
    private(set) var unexplained = 0
    /// The open incidents of the site, the latest first.
    private(set) var incidents: [FleetIncident] = []

    private init(name: String) {
        self.name = name
    }

    var deviceCount: Int { standings.values.reduce(0, +) }

    func count(_ standing: DevicePresence.Standing) -> Int { standings[standing] ?? 0 }

    /// Returns all sites, sorted by name.
    static func all(_ hub: Hub) -> [HubSite] {
        var sites: [String: HubSite] = [:]
        let faults = hub.lastingFaults
        for device in hub.devices.values {
            let name = device.place.site
            var site = sites.removeValue(forKey: name) ?? HubSite(name: name)
            site.standings[device.presence.standing, default: 0] += 1
            site.accounts[hub.account(of: device, faults), default: 0] += 1
            let (isSilent, fault) = (device.presence.standing == .silent, faults[device.place])
            if isSilent || fault != nil { site.affected += 1 }
            if !isSilent, let fault { site.faults[FaultDescription.state(fault), default: 0] += 1 }
            if hub.isUnexplained(device.place) { site.unexplained += 1 }
            sites[name] = site
        }
        for incident in hub.book.incidents where incident.isOpen {
            for site in incident.sites { sites[site]?.incidents.append(incident) }
        }
        return sites.values.sorted { $0.name < $1.name }
    }

    /// Returns the numbers of affected devices by state: outages, the most frequent first, then silence.
    static func affected(at sites: [HubSite]) -> [(words: String, count: Int)] {
        let faults = sites.reduce(into: [String: Int]()) { $0.merge($1.faults, uniquingKeysWith: +) }
        let silent = sites.reduce(0) { $0 + $1.count(.silent) }
        return faults.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
            + (silent > 0 ? [("silent", silent)] : [])
    }

    /// Returns the sites with the most devices, sorted by name, followed by one entry with the sums of all others.
    static func largest(_ limit: Int, of sites: [HubSite], others name: String) -> [HubSite] {
        guard sites.count > limit else { return sites }
        let ranked = sites.sorted { ($1.deviceCount, $0.name) < ($0.deviceCount, $1.name) }
        var others = HubSite(name: name)
        for site in ranked.dropFirst(limit) {
            others.standings.merge(site.standings, uniquingKeysWith: +)
            others.accounts.merge(site.accounts, uniquingKeysWith: +)
            others.affected += site.affected
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

extension Hub {
    /// The open outages by device. If a device has several, its latest.
    var lastingFaults: [DeviceID: FleetIncident.ReportedOutage] {
        var faults: [DeviceID: FleetIncident.ReportedOutage] = [:]
        for incident in book.incidents.reversed() where incident.isOpen {
            for (device, part) in incident.parts {
                guard let outage = part.inOrder.last(where: { $0.end == nil }) else { continue }
                if let place = incident.place(of: device) { faults[place] = outage }
            }
        }
        return faults
    }

    /// Returns the state of a device, which selects its colour and symbol on the dashboard.
    ///
    /// - Parameter faults: The open outages.
    func account(of device: HubDevice, _ faults: [DeviceID: FleetIncident.ReportedOutage]) -> LedgerAccount {
        switch device.presence.standing {
        case .online:
            faults[device.place]?.reported.attribution.account
                ?? (device.presence.report?.path == "notReachable" ? .us : .up)
        case .silent: (verdict(of: device.place)?.attribution ?? .unknown).account
        case .unknown: .unknown
        case .sleeping, .leaving: .maintenance
        }
    }
}
