package import LinuxSupport
package import ReachabilityFleet
package import ReachabilityService

/// Where a hub keeps what it knows. `HubStoreConformance` of the tests is what each has to pass. Thread-safe.
package protocol HubStore: Sendable {
    /// All machines, the incidents that last, and of each site the latest that are over.
    func contents() throws(HistoryFault) -> HubContents

    /// Writes it all, or nothing: when it returns, no crash of the process takes it away, and no power cut.
    func save(_ changes: HubChanges) throws(HistoryFault)

    /// Whether an outage of a machine is in an incident that was saved.
    func hasOutage(_ id: String, of place: FleetPlace) throws(HistoryFault) -> Bool

    /// A page of incidents, the latest first; none after one that is not there.
    func incidents(_ query: IncidentQuery) throws(HistoryFault) -> [IncidentSummary]

    /// One incident, whole; nil where there is none.
    func incident(_ id: String) throws(HistoryFault) -> FleetIncident?

    /// Deletes machines, what befell them, and incidents that befell no other machine; all, or nothing.
    func forget(_ places: [FleetPlace]) throws(HistoryFault)

    /// Deletes incidents that ended before a moment, the oldest first, and what befell machines in them.
    ///
    /// - Parameter limit: So many at most, for whoever writes meanwhile waits.
    /// - Returns: How many were deleted.
    func deleteIncidents(endedBefore moment: Duration, limit: Int) throws(HistoryFault) -> Int

    /// What was told of incidents, the oldest first. Of each is known when it was noticed, and who was told what.
    func told() throws(HistoryFault) -> [Incident]

    /// Writes what was told of some incidents, in place of what was known of it, and lets go of that of others; all, or nothing.
    func save(told: [Incident], forgetting gone: [String]) throws(HistoryFault)

    /// The last reading of the clocks that retention has saved; nil if there is none.
    func age() throws(HistoryFault) -> HubAge?

    func save(_ age: HubAge) throws(HistoryFault)

    func close()
}

extension HubStore {
    package func age() throws(HistoryFault) -> HubAge? { nil }
    package func save(_ age: HubAge) throws(HistoryFault) {}
}

/// The clock that retention goes by, and when it was read.
package struct HubAge: Hashable, Sendable {
    package let reading: ClockReading
    /// Since 1970. It runs while the machine runs, and follows no step of the system's clock.
    package let time: Duration

    package init(reading: ClockReading, time: Duration) {
        (self.reading, self.time) = (reading, time)
    }
}

/// What a hub goes on with.
package struct HubContents: Sendable {
    /// So many incidents that are over are read of each site.
    package static let kept = FleetIncidentBook.kept

    package var devices: [HubDevice] = []
    package var incidents: [FleetIncident] = []

    package init() {}
}

/// What is to be written, together.
package struct HubChanges: Sendable {
    /// What befell a machine in an incident.
    package struct Part: Hashable, Sendable {
        package let incident: String
        package let device: String
        package let part: FleetIncident.Part
    }

    package var devices: [HubDevice] = []
    package var incidents: [IncidentSummary] = []
    /// Of these incidents, or of ones that were written before.
    package var parts: [Part] = []

    package init() {}

    package var isEmpty: Bool { devices.isEmpty && incidents.isEmpty && parts.isEmpty }

    /// Adds an incident with some of its machines.
    package mutating func add(_ incident: FleetIncident, _ devices: some Sequence<String>) {
        incidents.append(IncidentSummary(incident))
        for device in devices {
            guard let part = incident.parts[device] else { continue }
            parts.append(Part(incident: incident.id, device: device, part: part))
        }
    }
}
