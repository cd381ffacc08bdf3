import LinuxSupport
import ReachabilityLedger

/// The incidents of all sites, derived from silences and outages of machines. All silences and outages of one event at
/// a site belong to one incident, which is refined. A value. Times are by the hub's clock, since 1970.
///
/// Incidents follow the outages that machines report. A silence only opens an incident earlier. Later reports of the
/// machine refine the same incident, even after it has ended.
package struct FleetIncidentTracker: Sendable {
    /// A change of an incident. It contains only the id of the incident, because an incident may be large.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Sendable { case opened, refined, reopened, closed }

        package let kind: Kind
        package let incident: String
        /// The machine whose part of the incident changed.
        package let place: DeviceID
    }

    /// The maximum distance in time between silences and outages that belong to one incident.
    package static let closeness: Duration = .seconds(30)
    /// The minimum time without a fault after which the next fault of a machine belongs to another incident.
    package static let pause: Duration = .seconds(2)
    /// The number of ended incidents per site that are kept in memory, because late reports may change them.
    package static let kept = 16
    /// The maximum number of open incidents of a site. Further faults are added to the latest incident.
    static let openLimit = 1024
    /// The maximum number of outages of a machine in one incident.
    static let outageLimit = 256

    private var sites: [String: [FleetIncident]] = [:]

    package init() {}

    /// Continues with incidents that were read from the store.
    ///
    /// - Parameter incidents: All open incidents, and the latest ended ones.
    package init(_ incidents: [FleetIncident]) {
        for incident in incidents.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            sites[incident.site, default: []].append(incident)
        }
    }

    /// All incidents in memory, the latest first.
    package var incidents: [FleetIncident] { sites.values.joined().sorted { ($0.start, $0.id) > ($1.start, $1.id) } }

    /// Returns an incident of a site; nil if it is unknown or no longer in memory.
    package func incident(_ id: String, at site: String) -> FleetIncident? { sites[site]?.last { $0.id == id } }

    /// Returns the latest open incident of a site.
    package func open(at site: String) -> FleetIncident? { sites[site]?.last { $0.isOpen } }

    /// Returns the latest incident that is still open for a machine.
    package func open(of place: DeviceID) -> FleetIncident? {
        sites[place.site]?.last { $0.parts[place.device]?.isOpen ?? false }
    }

    /// Whether an incident in memory contains this outage of a machine.
    package func knows(_ outage: String, of place: DeviceID) -> Bool { knownIndex(place, outage) != nil }

    /// Returns the reason of a silence of a machine; nil if no incident contains the silence.
    package func verdict(of place: DeviceID, _ gap: DeviceAbsence) -> SilenceVerdict? {
        index(of: gap, place).flatMap { sites[place.site]?[$0].verdict(of: place.device) }
    }

    // MARK: Silences and outages

    /// Adds a silence, or new facts about a known silence. A silence that was noticed only after its end opens no
    /// incident.
    package mutating func note(_ gap: DeviceAbsence, of place: DeviceID) -> [Change] {
        var index = index(of: gap, place)
        if index == nil, gap.until == nil, !gap.isOver {
            index = joinIndex(gap, place) ?? begin(place, gap.since)
        }
        guard let index else { return [] }
        return change(place, index) { part in
            part.silentSince = part.silentSince ?? gap.since
            part.gap = gap
        }
    }

    /// Adds a report of an outage. A repeated report updates the outage.
    ///
    /// - Parameters:
    ///   - start: The start of the outage, by the hub's clock.
    ///   - end: The end of the outage, by the hub's clock; nil while it lasts.
    ///   - boot: The boot id of the machine at the report.
    package mutating func record(
        _ place: DeviceID,
        _ outage: DeviceOutage,
        start: Duration,
        end: Duration?,
        boot: String? = nil
    ) -> [Change] {
        guard outage.attribution != .unknown, outage.attribution != .up else { return [] }
        let index = knownIndex(place, outage.id) ?? joinIndex(start, end, place) ?? begin(place, start)
        return change(place, index) { part in
            // An end is final.
            if part.outages[outage.id]?.end != nil { return }
            guard part.outages[outage.id] != nil || part.outages.count < Self.outageLimit else { return }
            // The first reported start is kept, even if a clock is set later.
            let began = part.outages[outage.id]?.start ?? start
            part.outages[outage.id] = .init(reported: outage, start: began, end: end.map { max($0, began) }, boot: boot)
        }
    }

    /// Records that a machine has reported all past events. An outage of an earlier boot without a reported end is
    /// closed, because the machine has lost its record of it. The end is the time of the last message of that boot.
    package mutating func recordCaughtUp(_ place: DeviceID, boot: String, at end: Duration) -> [Change] {
        (sites[place.site] ?? []).indices.flatMap { index -> [Change] in
            let outages = sites[place.site]?[index].parts[place.device]?.outages
            guard outages?.values.contains(where: { $0.isForgotten(in: boot) }) ?? false else { return [] }
            return change(place, index) { part in
                for (id, outage) in part.outages where outage.isForgotten(in: boot) {
                    part.outages[id]?.end = max(outage.start, end)
                }
            }
        }
    }

    /// Removes old ended incidents of a site from memory. They must be in the store before.
    ///
    /// - Parameter site: The site with new changes.
    package mutating func prune(_ site: String) {
        guard let all = sites[site], all.count > Self.kept else { return }
        var left = all.count { !$0.isOpen } - Self.kept
        guard left > 0 else { return }
        sites[site]?.removeAll { incident in
            guard left > 0, !incident.isOpen else { return false }
            left -= 1
            return true
        }
    }

    /// Removes a machine. Incidents without any other machine are removed too.
    package mutating func forget(_ place: DeviceID) -> [Change] {
        var changes: [Change] = []
        for index in (sites[place.site] ?? []).indices {
            guard let incident = sites[place.site]?[index], incident.parts[place.device] != nil else { continue }
            sites[place.site]?[index].forget(place.device)
            let isOver = incident.isOpen && !(sites[place.site]?[index].isOpen ?? false)
            changes.append(Change(kind: isOver ? .closed : .refined, incident: incident.id, place: place))
        }
        sites[place.site]?.removeAll(where: \.parts.isEmpty)
        return changes
    }

    // MARK: Matching

    private func index(of gap: DeviceAbsence, _ place: DeviceID) -> Int? {
        sites[place.site]?.lastIndex { incident in
            guard let known = incident.parts[place.device]?.gap else { return false }
            return known.since == gap.since && known.noticed == gap.noticed
        }
    }

    private func knownIndex(_ place: DeviceID, _ outage: String) -> Int? {
        sites[place.site]?.lastIndex { $0.parts[place.device]?.outages[outage] != nil }
    }

    /// Returns the incident for a silence: one that is still open for the machine, or one that began for other machines
    /// at the same time.
    private func joinIndex(_ gap: DeviceAbsence, _ place: DeviceID) -> Int? {
        sites[place.site]?.lastIndex { incident in
            if let part = incident.parts[place.device] {
                return part.gap.map { !$0.isOver } ?? false || part.outages.values.contains { $0.lasts && $0.isLocal }
            }
            return Self.isClose(incident.onset, gap.since...gap.noticed)
        } ?? latestIndex(place.site)
    }

    /// Returns the incident for an outage: one whose silence or outages of the machine it overlaps, or one that began
    /// for other machines at the same time.
    private func joinIndex(_ start: Duration, _ end: Duration?, _ place: DeviceID) -> Int? {
        sites[place.site]?.lastIndex { incident in
            if let part = incident.parts[place.device] { return part.touches(start, end) }
            return Self.isClose(incident.onset, start...start)
        } ?? latestIndex(place.site)
    }

    private static func isClose(_ one: ClosedRange<Duration>, _ other: ClosedRange<Duration>) -> Bool {
        one.lowerBound <= other.upperBound + closeness && other.lowerBound <= one.upperBound + closeness
    }

    /// Returns the latest incident if the maximum number of open incidents is reached; nil otherwise.
    private func latestIndex(_ site: String) -> Int? {
        guard let all = sites[site], all.count >= Self.openLimit, all.count(where: \.isOpen) >= Self.openLimit else {
            return nil
        }
        return all.count - 1
    }

    private mutating func begin(_ place: DeviceID, _ start: Duration) -> Int {
        // The id is unique, because two incidents of one machine cannot begin at the same time.
        let id = "\(place.site)-\(String(start.milliseconds, radix: 36))-\(place.device)"
        var all = sites.removeValue(forKey: place.site) ?? []
        all.append(FleetIncident(id: id, site: place.site, start: start))
        sites[place.site] = all
        return all.count - 1
    }

    private mutating func change(
        _ place: DeviceID,
        _ index: Int,
        _ body: (inout FleetIncident.Part) -> Void
    ) -> [Change] {
        // The incident is changed in place. No copy is held, because copying a large incident is slow.
        guard let id = sites[place.site]?[index].id, let isFirst = sites[place.site]?[index].parts.isEmpty else {
            return []
        }
        let wasOpen = sites[place.site]?[index].isOpen ?? false
        guard sites[place.site]?[index].change(place.device, body) ?? false else { return [] }
        let isOpen = sites[place.site]?[index].isOpen ?? false
        func change(_ kind: Change.Kind) -> Change { Change(kind: kind, incident: id, place: place) }
        switch (wasOpen, isOpen) {
        case _ where isFirst: return isOpen ? [change(.opened)] : [change(.opened), change(.closed)]
        case (true, false): return [change(.closed)]
        case (false, true): return [change(.reopened)]
        default: return [change(.refined)]
        }
    }
}

extension FleetIncident.OwnOutage {
    fileprivate var lasts: Bool { end == nil }
    /// True if the outage can silence its machine.
    fileprivate var isLocal: Bool { reported.attribution == .us || reported.attribution == .upstream }
}
