import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// The outages with one root cause.
struct RootCause {
    /// The outages, earliest first. Never empty, and at most one of each target.
    private(set) var outages: [OutageSummary]

    /// The earliest outage.
    var first: OutageSummary { outages[0] }
    var start: LedgerInstant { first.start }
    /// The end of the last outage; nil if an outage is ongoing.
    var end: LedgerInstant? {
        let ends = outages.compactMap(\.end)
        return ends.count == outages.count ? ends.max() : nil
    }

    /// Groups outages as ``IncidentTracker`` does.
    ///
    /// - Parameter outages: The outages, latest first.
    /// - Returns: The groups, in the order of their latest outages.
    static func groups(of outages: [OutageSummary], _ snapshot: MonitoringService.Snapshot) -> [RootCause] {
        var groups: [RootCause] = []
        for outage in outages {
            // Checks of different targets detect the same fault at different times.
            let window = IncidentTracker.window + (snapshot.targets[outage.target]?.checks?.interval ?? .zero)
            let recent = groups.indices.reversed().prefix {
                (groups[$0].outages.last?.start ?? .latest) - outage.start <= window
            }
            let index = recent.last { groups[$0].accepts(outage, snapshot) }
            if let index {
                groups[index].outages.insert(outage, at: 0)
            } else {
                groups.append(RootCause(outages: [outage]))
            }
        }
        let places = Dictionary(snapshot.order.enumerated().map { ($1, $0) }) { first, _ in first }
        for index in groups.indices {
            groups[index].outages.sort { ($0.start, places[$0.target] ?? .max) < ($1.start, places[$1.target] ?? .max) }
        }
        return groups
    }

    private func accepts(_ outage: OutageSummary, _ snapshot: MonitoringService.Snapshot) -> Bool {
        let (state, other) = (first.state, outage.state)
        guard state.attribution == other.attribution, !outages.contains(where: { $0.target == outage.target }) else {
            return false
        }
        let (one, two) = (snapshot.targets[first.target], snapshot.targets[outage.target])
        guard one?.namespace == two?.namespace else { return false }
        if state.isOfLine, other.isOfLine { return true }
        let isTargetFault = state.attribution == .them
        return state.cause == other.cause && (!isTargetFault || one?.host != nil && one?.host == two?.host)
    }
}

/// Incidents and their outages, latest first.
struct IncidentList {
    fileprivate let outages: [OutageSummary]
    fileprivate let groups: [RootCause]

    /// Returns the first incidents, and the id of the outage after which older ones follow; nil if there are none.
    func first(_ limit: Int) -> (incidents: [RootCause], next: String?) {
        let shown = Array(groups.prefix(limit))
        let ids = Set(shown.flatMap { $0.outages.map(\.id) })
        let rest = outages.firstIndex { !ids.contains($0.id) }
        return (shown, rest.flatMap { $0 > 0 ? outages[$0 - 1].id : nil })
    }
}

extension API {
    /// The maximum number of outages that are read for a list of incidents.
    private static let readLimit = 5000

    /// Returns the latest incidents that match a filter, latest first.
    ///
    /// - Returns: The incidents, and the id of the outage after which older ones follow; nil if there are none.
    func incidents(
        _ filter: OutageFilter,
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) -> (incidents: [RootCause], next: String?) {
        incidentList(filter, after: after, limit: limit, snapshot).first(limit)
    }

    /// Returns at least `limit` of the latest incidents that match a filter, or all that are read for a list.
    func incidentList(
        _ filter: OutageFilter,
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) -> IncidentList {
        // An incident has at most one outage of each target.
        let targets = max(1, filter.targets?.count ?? snapshot.order.count)
        let count = limit < Self.readLimit / targets ? max(1000, (limit + 1) * targets) : Self.readLimit
        let known = try? reader.summaries(filter, after: after, limit: count, snapshot)
        // If the history cannot be read, those in memory are shown. A notice on the page reports the fault.
        let outages =
            known
            ?? snapshot.accounting.outages(filter, upTo: snapshot.now, limit: count, at: snapshot.now)
            .map { OutageSummary($0, at: snapshot.now) }
        var groups = RootCause.groups(of: outages, snapshot)
        // The last group may be incomplete.
        if outages.count >= count, groups.count > 1 { groups.removeLast() }
        return IncidentList(outages: outages, groups: groups)
    }

    /// Returns the ongoing incidents that match a filter, latest first. All ongoing outages are in memory.
    func ongoing(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> [RootCause] {
        var filter = filter
        filter.isOpen = true
        let outages = snapshot.accounting.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now)
        return RootCause.groups(of: outages.map { OutageSummary($0, at: snapshot.now) }, snapshot)
    }

    /// Returns the incident of an outage, with the outages that began at about the same time.
    func incident(of outage: Outage, _ snapshot: MonitoringService.Snapshot) -> RootCause {
        var filter = OutageFilter()
        let window = IncidentTracker.window + .seconds(60)
        (filter.attribution, filter.to) = (outage.deciding(at: snapshot.now).state.attribution, outage.start + window)
        let near = ((try? reader.summaries(filter, limit: Self.readLimit, snapshot)) ?? []).filter {
            $0.start >= outage.start - window
        }
        let groups = RootCause.groups(of: near, snapshot)
        return groups.first { $0.outages.contains { $0.id == outage.id } }
            ?? RootCause(outages: [OutageSummary(outage, at: snapshot.now)])
    }

    /// Returns the card with the latest incidents.
    func incidentCard(_ snapshot: MonitoringService.Snapshot, _ filter: OutageFilter, limit: Int) -> HTML {
        let (latest, next) = incidents(filter, limit: limit, snapshot)
        let link = OutageChoice(target: filter.targets?.first).link()
        let more: HTML? = next == nil ? nil : "<p class=\"more\"><a href=\"\(link)\">All incidents</a></p>"
        return """
            <h2 id="incidents">Incidents <small>one entry per root cause</small></h2>
            <section class="card" data-part="incidents" aria-labelledby="incidents">\(list(latest, snapshot))</section>\(more)
            """
    }

    /// Returns a list of incidents by day, with links to their pages.
    func list(_ incidents: [RootCause], _ snapshot: MonitoringService.Snapshot) -> HTML {
        PageParts.incidents(incidents.map { row($0, snapshot) }, snapshot.clock)
    }

    private func row(_ incident: RootCause, _ snapshot: MonitoringService.Snapshot) -> IncidentRow {
        let (first, names) = (incident.first, incident.outages.map(\.target))
        let explained = try? OutageKey(first.id).flatMap { try reader.outage(with: $0, snapshot) }
        let reason = explained.flatMap { explained in
            explained.actor.map { "caused by \($0.text)" } ?? explained.checkSentence
                ?? StateDescription.explanation(explained.outage.deciding(at: snapshot.now).reason)?.meaning
        }
        let isAll = names.count > 1 && Set(names).isSuperset(of: snapshot.order)
        let length = incident.end.map { $0 - incident.start }
        let exact = explained.flatMap { names.count == 1 ? $0.outage.bounds(at: snapshot.now) : nil }
        return IncidentRow(
            link: PageLink.outage(first.id),
            mark: first.state.mark,
            party: Sign.tag(first.state.mark),
            start: snapshot.calendar.wall(at: incident.start),
            StateDescription.sentence(first.state, of: first.target, isPast: length != nil),
            reason: reason,
            affected: isAll ? ["all \(names.count) targets"] : names,
            count: isAll ? 1 : names.count,
            length: length.map { "<span title=\"\(exact ?? $0.units)\">\($0.rounded)</span>" }
        )
    }
}

extension Outage {
    /// Returns the duration with its bounds: `at least 3.5 s, at most 11.9 s`, or the exact duration.
    func bounds(at now: LedgerInstant) -> String {
        let length = duration(at: now)
        if uncertainty < .milliseconds(1) { return length.units }
        // It may have begun earlier, and it may have ended earlier.
        let (least, most) = (max(.zero, length - endUncertainty), length + intervals[0].uncertainty)
        return "at least \(least.rounded), at most \(most.rounded)"
    }
}
