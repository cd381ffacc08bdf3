package import ReachabilityFleet
package import ReachabilityLedger

/// An incident without the details of each machine, because a site may have thousands. Times are by the hub's clock,
/// since 1970.
package struct IncidentSummary: Hashable, Sendable {
    /// The maximum number of names in ``devices``.
    package static let nameLimit = 100

    package let id: String
    package let site: String
    package let start: Duration
    /// The end of the incident; nil while it is open.
    package let end: Duration?
    package let attribution: Attribution
    package let cause: OutageCause?
    /// True if at least one machine is silent for an unknown reason.
    package let isUnexplained: Bool
    /// True if no machine had a fault.
    package let isHarmless: Bool
    package let deviceCount: Int
    /// The first names in alphabetical order, at most ``nameLimit``. If there are several sites, `SITE/DEVICE`.
    package let devices: [String]
    /// The target that the machines cannot reach; nil for another fault.
    package var target: String?
    /// The sites of the machines, in alphabetical order.
    package var sites: [String] = []
}

extension IncidentSummary {
    package init(_ incident: FleetIncident) {
        let (fault, keys) = (incident.fault, incident.devices.prefix(Self.nameLimit))
        self.init(
            id: incident.id,
            site: incident.site,
            start: incident.start,
            end: incident.end,
            attribution: fault.attribution,
            cause: fault.cause,
            isUnexplained: incident.isUnexplained,
            isHarmless: incident.isHarmless,
            deviceCount: incident.parts.count,
            devices: keys.compactMap { incident.isShared ? incident.place(of: $0)?.description : $0 },
            target: fault.attribution == .them ? incident.target : nil,
            sites: incident.sites.sorted()
        )
    }
}

/// A query for incidents. The result is sorted, the latest first.
package struct IncidentQuery: Hashable, Sendable {
    package var site: String?
    package var device: String?
    /// Whether to return only open incidents.
    package var isOpen = false
    /// The id of the last incident of the previous page.
    package var after: String?
    package var limit: Int
}

/// The saved state with which a hub starts.
package struct HubContents: Sendable {
    /// The number of ended incidents per site.
    package static let kept = FleetIncidentTracker.kept

    package var devices: [HubDevice] = []
    package var incidents: [FleetIncident] = []
    /// The number of records that are damaged, and left out.
    package var damaged = 0
}

/// Changes that are saved in one transaction.
package struct HubChanges: Sendable {
    /// The part of one machine in an incident.
    package struct Part: Hashable, Sendable {
        package let incident: String
        /// The key of the machine in the incident.
        package let key: String
        package let place: DeviceID
        package let part: FleetIncident.Part
    }

    package var devices: [HubDevice] = []
    package var incidents: [IncidentSummary] = []
    /// Parts of these incidents, or of earlier ones.
    package var parts: [Part] = []

    package var isEmpty: Bool { devices.isEmpty && incidents.isEmpty && parts.isEmpty }

    /// Adds an incident with the parts of some machines, by their keys in the incident.
    package mutating func add(_ incident: FleetIncident, _ keys: some Sequence<String>) {
        incidents.append(IncidentSummary(incident))
        for key in keys {
            guard let part = incident.parts[key], let place = incident.place(of: key) else { continue }
            parts.append(Part(incident: incident.id, key: key, place: place, part: part))
        }
    }
}
