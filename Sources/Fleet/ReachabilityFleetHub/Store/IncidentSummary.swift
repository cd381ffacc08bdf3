package import ReachabilityFleet
package import ReachabilityLedger

/// An incident without what befell each machine, for a site may have thousands. Times are by the hub's clock, since 1970.
package struct IncidentSummary: Hashable, Sendable {
    /// So many machines are named; ``deviceCount`` says how many there are.
    package static let nameLimit = 100

    package let id: String
    package let site: String
    package let start: Duration
    /// Nil while it lasts.
    package let end: Duration?
    package let attribution: Attribution
    package let cause: OutageCause?
    /// Whether a machine of it is silent, and nobody knows why.
    package let isUnexplained: Bool
    /// Whether nothing was wrong after all.
    package let isHarmless: Bool
    package let deviceCount: Int
    /// The first of them, in order.
    package let devices: [String]

    package init(
        id: String,
        site: String,
        start: Duration,
        end: Duration?,
        attribution: Attribution,
        cause: OutageCause?,
        isUnexplained: Bool,
        isHarmless: Bool,
        deviceCount: Int,
        devices: [String]
    ) {
        (self.id, self.site, self.start, self.end) = (id, site, start, end)
        (self.attribution, self.cause) = (attribution, cause)
        (self.isUnexplained, self.isHarmless) = (isUnexplained, isHarmless)
        (self.deviceCount, self.devices) = (deviceCount, devices)
    }

    /// The same incident with other machines.
    func with(_ devices: [String]) -> IncidentSummary {
        IncidentSummary(
            id: id,
            site: site,
            start: start,
            end: end,
            attribution: attribution,
            cause: cause,
            isUnexplained: isUnexplained,
            isHarmless: isHarmless,
            deviceCount: devices.count,
            devices: Array(devices.prefix(Self.nameLimit))
        )
    }

    package init(_ incident: FleetIncident) {
        let fault = incident.fault
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
            devices: Array(incident.devices.prefix(Self.nameLimit))
        )
    }
}

/// Which incidents are asked for: the latest first.
package struct IncidentQuery: Hashable, Sendable {
    package var site: String?
    package var device: String?
    /// Whether only those that last.
    package var isOpen = false
    /// The id of the last one of the page before.
    package var after: String?
    package var limit: Int

    package init(site: String? = nil, device: String? = nil, isOpen: Bool = false, after: String? = nil, limit: Int) {
        (self.site, self.device, self.isOpen) = (site, device, isOpen)
        (self.after, self.limit) = (after, limit)
    }
}
