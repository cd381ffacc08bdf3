import LinuxSupport
import ReachabilityLedger

/// The incidents of all sites, derived from silences and outages of machines. All silences and outages of one event at
/// a site belong to one incident, which is refined. The failure of a target that machines of several sites report is one
/// incident, too. A value. Times are by the hub's clock, since 1970.
///
/// Incidents follow the outages that machines report. A silence only opens an incident earlier. Later reports of the
/// machine refine the same incident, even after it has ended.
package struct FleetIncidentTracker: Sendable {
    /// A change of an incident. It contains only the id of the incident, because an incident may be large.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Sendable { case opened, refined, reopened, closed }

        package let kind: Kind
        package let incident: String
        /// The site of the incident, which differs from that of the machine if the incident affects several sites.
        package let site: String
        /// The machine whose part of the incident changed.
        package let place: DeviceID
    }

    /// The maximum distance in time between silences and outages that belong to one incident.
    package static let closeness: Duration = .seconds(30)
    /// The maximum time between the first reports of the failure of a target that belong to one incident. Checks of
    /// different machines detect the same failure at different times.
    package static let spread: Duration = .seconds(300)
    /// The minimum time without a fault after which the next fault of a machine belongs to another incident.
    package static let pause: Duration = .seconds(2)
    /// The number of ended incidents per site that are kept in memory, because late reports may change them.
    package static let kept = 16
    /// The maximum number of open incidents of a site. Further faults are added to the latest incident.
    static let openLimit = 1024
    /// The maximum number of outages of a machine in one incident.
    static let outageLimit = 256

    /// The index of an incident among those of its site.
    private struct Position {
        let site: String
        let index: Int
    }

    private var sites: [String: [FleetIncident]] = [:]
    /// The other sites whose incidents affect machines of a site, by the site of the machines.
    private var others: [String: Set<String>] = [:]

    package init() {}

    /// Continues with incidents that were read from the store.
    ///
    /// - Parameter incidents: All open incidents, and the latest ended ones.
    package init(_ incidents: [FleetIncident]) {
        for incident in incidents.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            sites[incident.site, default: []].append(incident)
            for site in incident.sites where site != incident.site { others[site, default: []].insert(incident.site) }
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
        position(of: place, where: \.isOpen).flatMap { sites[$0.site]?[$0.index] }
    }

    /// Whether an incident in memory contains this outage of a machine.
    package func contains(_ outage: String, of place: DeviceID) -> Bool { known(place, outage) != nil }

    /// Returns the reason of a silence of a machine; nil if no incident contains the silence.
    package func verdict(of place: DeviceID, _ gap: DeviceAbsence) -> SilenceVerdict? {
        position(of: gap, place).flatMap { position in
            guard let incident = sites[position.site]?[position.index] else { return nil }
            return incident.verdict(of: incident.key(of: place))
        }
    }

    // MARK: Silences and outages

    /// Adds a silence, or new facts about a known silence. A silence that was noticed only after its end opens no
    /// incident.
    package mutating func note(_ gap: DeviceAbsence, of place: DeviceID) -> [Change] {
        var position = position(of: gap, place)
        if position == nil, gap.until == nil, !gap.isOver {
            position = joined(gap, place) ?? begin(place, gap.since)
        }
        guard let position else { return [] }
        return change(place, position) { part in
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
        let position = known(place, outage.id) ?? joined(outage, start, end, place) ?? begin(place, start)
        return change(place, position) { part in
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
        homes(of: place.site).flatMap { site in
            (sites[site] ?? []).indices.flatMap { index -> [Change] in
                let outages = sites[site]?[index].part(of: place)?.outages
                guard outages?.values.contains(where: { $0.isForgotten(in: boot) }) ?? false else { return [] }
                return change(place, Position(site: site, index: index)) { part in
                    for (id, outage) in part.outages where outage.isForgotten(in: boot) {
                        part.outages[id]?.end = max(outage.start, end)
                    }
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
        for site in homes(of: place.site) {
            for index in (sites[site] ?? []).indices {
                guard let incident = sites[site]?[index], incident.part(of: place) != nil else { continue }
                sites[site]?[index].forget(place)
                let isOver = incident.isOpen && !(sites[site]?[index].isOpen ?? false)
                let kind: Change.Kind = isOver ? .closed : .refined
                changes.append(Change(kind: kind, incident: incident.id, site: site, place: place))
            }
            sites[site]?.removeAll(where: \.parts.isEmpty)
        }
        return changes
    }

    // MARK: Matching

    /// Returns the sites whose incidents may contain machines of `site`: `site` itself first.
    private func homes(of site: String) -> [String] { [site] + (others[site]?.sorted() ?? []) }

    /// Returns the latest incident with a part of a machine that meets a condition.
    private func position(of place: DeviceID, where condition: (FleetIncident.Part) -> Bool) -> Position? {
        for site in homes(of: place.site) {
            let index = sites[site]?.lastIndex { $0.part(of: place).map(condition) ?? false }
            if let index { return Position(site: site, index: index) }
        }
        return nil
    }

    private func position(of gap: DeviceAbsence, _ place: DeviceID) -> Position? {
        position(of: place) { $0.gap.map { $0.since == gap.since && $0.noticed == gap.noticed } ?? false }
    }

    private func known(_ place: DeviceID, _ outage: String) -> Position? {
        position(of: place) { $0.outages[outage] != nil }
    }

    /// Returns the incident for a silence: one that is still open for the machine, or one that began for other machines
    /// at the same time.
    private func joined(_ gap: DeviceAbsence, _ place: DeviceID) -> Position? {
        latest(place.site) { incident in
            if let part = incident.part(of: place) {
                return part.gap.map { !$0.isOver } ?? false || part.outages.values.contains { $0.lasts && $0.isLocal }
            }
            // The failure of a target does not silence machines.
            return !incident.isShared && Self.isClose(incident.onset, gap.since...gap.noticed)
        }
    }

    /// Returns the incident for an outage: one about the failure of the same target, at any site; one whose silence or
    /// outages of the machine it overlaps; or one that began for other machines of the site at the same time.
    private func joined(
        _ outage: DeviceOutage,
        _ start: Duration,
        _ end: Duration?,
        _ place: DeviceID
    ) -> Position? {
        let isFailure = outage.attribution == .them
        if isFailure {
            // Most machines join an incident that other machines of their site have joined.
            let position = failure(of: outage.target, start, end, place, among: homes(of: place.site))
            if let position = position ?? failure(of: outage.target, start, end, place, among: sites.keys) {
                return position
            }
        }
        return latest(place.site) { incident in
            if let part = incident.part(of: place) { return part.touches(start, end) }
            return (isFailure || !incident.isShared) && Self.isClose(incident.onset, start...start)
        }
    }

    /// Returns the earliest incident about the failure of a target, among the latest incidents of each of the sites.
    private func failure(
        of target: String,
        _ start: Duration,
        _ end: Duration?,
        _ place: DeviceID,
        among homes: some Sequence<String>
    ) -> Position? {
        var found: (position: Position, rank: (Duration, String))?
        for site in homes {
            guard let incidents = sites[site] else { continue }
            for index in incidents.indices.suffix(Self.kept)
            where incidents[index].isFailure(of: target, start, end, at: place) {
                let rank = (incidents[index].start, incidents[index].id)
                if found.map({ rank < $0.rank }) ?? true { found = (Position(site: site, index: index), rank) }
            }
        }
        return found?.position
    }

    private static func isClose(_ one: ClosedRange<Duration>, _ other: ClosedRange<Duration>) -> Bool {
        one.lowerBound <= other.upperBound + closeness && other.lowerBound <= one.upperBound + closeness
    }

    /// Returns the latest incident of a site that meets a condition. If no incident meets it and the maximum number of open
    /// incidents is reached, returns the latest incident.
    private func latest(_ site: String, where condition: (FleetIncident) -> Bool) -> Position? {
        guard let all = sites[site] else { return nil }
        var index = all.lastIndex(where: condition)
        if index == nil, all.count >= Self.openLimit, all.count(where: \.isOpen) >= Self.openLimit {
            index = all.count - 1
        }
        return index.map { Position(site: site, index: $0) }
    }

    private mutating func begin(_ place: DeviceID, _ start: Duration) -> Position {
        // The id is unique, because two incidents of one machine cannot begin at the same time.
        let id = "\(place.site)-\(String(start.milliseconds, radix: 36))-\(place.device)"
        var all = sites.removeValue(forKey: place.site) ?? []
        all.append(FleetIncident(id: id, site: place.site, start: start))
        sites[place.site] = all
        return Position(site: place.site, index: all.count - 1)
    }

    private mutating func change(
        _ place: DeviceID,
        _ position: Position,
        _ body: (inout FleetIncident.Part) -> Void
    ) -> [Change] {
        let (site, index) = (position.site, position.index)
        // The incident is changed in place. No copy is held, because copying a large incident is slow.
        guard let id = sites[site]?[index].id, let isFirst = sites[site]?[index].parts.isEmpty,
            let key = sites[site]?[index].key(of: place)
        else { return [] }
        let wasOpen = sites[site]?[index].isOpen ?? false
        guard sites[site]?[index].change(key, body) ?? false else { return [] }
        if site != place.site { others[place.site, default: []].insert(site) }
        let isOpen = sites[site]?[index].isOpen ?? false
        func change(_ kind: Change.Kind) -> Change { Change(kind: kind, incident: id, site: site, place: place) }
        switch (wasOpen, isOpen) {
        case _ where isFirst: return isOpen ? [change(.opened)] : [change(.opened), change(.closed)]
        case (true, false): return [change(.closed)]
        case (false, true): return [change(.reopened)]
        default: return [change(.refined)]
        }
    }
}

extension FleetIncident.ReportedOutage {
    fileprivate var lasts: Bool { end == nil }
    /// True if the outage can silence its machine.
    fileprivate var isLocal: Bool { reported.attribution == .us || reported.attribution == .upstream }
}
