import LinuxSupport
import ReachabilityLedger

/// Makes incidents of silences and outages: one for each thing that happens at a site, which is refined, never a second. A value; times
/// are by the hub's clock, since 1970.
///
/// An incident comes from the machines' own outages. A silence only opens one earlier; what its machine tells afterwards refines that one,
/// also when it was over by then.
package struct FleetIncidentTracker: Sendable {
    /// What became of an incident. It does not carry the incident itself, for that may be large.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Sendable { case opened, refined, reopened, closed }

        package let kind: Kind
        package let incident: String
        /// Which machine's part of it changed.
        package let place: FleetPlace
    }

    /// The maximum distance of silences and outages that belong together.
    package static let closeness: Duration = .seconds(30)
    /// A machine that was well for longer than this, and falls again, is in another incident.
    package static let pause: Duration = .seconds(2)
    /// The number of ended incidents of a site that are kept, because late reports may change them.
    package static let kept = 16
    /// The maximum number of open incidents of a site. Further outages become part of the latest.
    static let openLimit = 1024
    /// The maximum number of outages of a machine in one incident.
    static let outageLimit = 256

    private var sites: [String: [FleetIncident]] = [:]

    package init() {}

    /// Goes on with incidents that were written down.
    ///
    /// - Parameter incidents: All that are open, and the latest of those that are over.
    package init(_ incidents: [FleetIncident]) {
        for incident in incidents.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            sites[incident.site, default: []].append(incident)
        }
    }

    /// The latest first.
    package var incidents: [FleetIncident] { sites.values.joined().sorted { ($0.start, $0.id) > ($1.start, $1.id) } }

    /// Nil for one that is over for long.
    package func incident(_ id: String, at site: String) -> FleetIncident? { sites[site]?.last { $0.id == id } }

    package func open(at site: String) -> FleetIncident? { sites[site]?.last { $0.isOpen } }

    /// The latest that lasts for a machine.
    package func open(of place: FleetPlace) -> FleetIncident? {
        sites[place.site]?.last { $0.parts[place.device]?.isOpen ?? false }
    }

    /// Whether an outage of a machine is in one of them.
    package func knows(_ outage: String, of place: FleetPlace) -> Bool { knownIndex(place, outage) != nil }

    /// Why a machine was silent at a time; nil where that is in no incident.
    package func verdict(of place: FleetPlace, _ gap: DeviceGap) -> SilenceVerdict? {
        index(of: gap, place).flatMap { sites[place.site]?[$0].verdict(of: place.device) }
    }

    // MARK: What happens

    /// Takes a silence, or new facts about one. A silence that was noticed after its end opens no incident.
    package mutating func note(_ gap: DeviceGap, of place: FleetPlace) -> [Change] {
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

    /// Takes a report of an outage, also a repeated one.
    ///
    /// - Parameters:
    ///   - start: When that began, and
    ///   - end: ended, by the hub's clock.
    ///   - boot: In which the machine is.
    package mutating func told(
        _ place: FleetPlace,
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
            // Where it began stays where it was seen first, whatever clocks do.
            let began = part.outages[outage.id]?.start ?? start
            part.outages[outage.id] = .init(told: outage, start: began, end: end.map { max($0, began) }, boot: boot)
        }
    }

    /// A machine has told all that it knows. An outage of an earlier boot that it has not told the end of is over, for it lost its history:
    /// it ended when the machine was last heard in that boot, at the latest.
    package mutating func toldAll(_ place: FleetPlace, boot: String, at end: Duration) -> [Change] {
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

    /// Lets go of those that are over for long, once they are written down.
    ///
    /// - Parameter site: Where something has changed.
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

    /// Removes a machine, and incidents of this machine alone.
    package mutating func forget(_ place: FleetPlace) -> [Change] {
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

    // MARK: Where it belongs

    private func index(of gap: DeviceGap, _ place: FleetPlace) -> Int? {
        sites[place.site]?.lastIndex { incident in
            guard let known = incident.parts[place.device]?.gap else { return false }
            return known.since == gap.since && known.noticed == gap.noticed
        }
    }

    private func knownIndex(_ place: FleetPlace, _ outage: String) -> Int? {
        sites[place.site]?.lastIndex { $0.parts[place.device]?.outages[outage] != nil }
    }

    /// A silence belongs to an incident of its machine that lasts, or to one that began for others at the same time.
    private func joinIndex(_ gap: DeviceGap, _ place: FleetPlace) -> Int? {
        sites[place.site]?.lastIndex { incident in
            if let part = incident.parts[place.device] {
                return part.gap.map { !$0.isOver } ?? false || part.outages.values.contains { $0.lasts && $0.isLocal }
            }
            return Self.isClose(incident.onset, gap.since...gap.noticed)
        } ?? latestIndex(place.site)
    }

    /// An outage belongs to the silence and to the outages of its machine that it overlaps, and to what began at the time for others.
    private func joinIndex(_ start: Duration, _ end: Duration?, _ place: FleetPlace) -> Int? {
        sites[place.site]?.lastIndex { incident in
            if let part = incident.parts[place.device] { return part.touches(start, end) }
            return Self.isClose(incident.onset, start...start)
        } ?? latestIndex(place.site)
    }

    private static func isClose(_ one: ClosedRange<Duration>, _ other: ClosedRange<Duration>) -> Bool {
        one.lowerBound <= other.upperBound + closeness && other.lowerBound <= one.upperBound + closeness
    }

    /// The latest, where no more may be open.
    private func latestIndex(_ site: String) -> Int? {
        guard let all = sites[site], all.count >= Self.openLimit, all.count(where: \.isOpen) >= Self.openLimit else {
            return nil
        }
        return all.count - 1
    }

    private mutating func begin(_ place: FleetPlace, _ start: Duration) -> Int {
        // A machine begins no two at one moment: they would be one.
        let id = "\(place.site)-\(String(start.milliseconds, radix: 36))-\(place.device)"
        var all = sites.removeValue(forKey: place.site) ?? []
        all.append(FleetIncident(id: id, site: place.site, start: start))
        sites[place.site] = all
        return all.count - 1
    }

    private mutating func change(
        _ place: FleetPlace,
        _ index: Int,
        _ body: (inout FleetIncident.Part) -> Void
    ) -> [Change] {
        // No copy of it is held: it is changed in place.
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
    /// Whether the outage can silence its machine.
    fileprivate var isLocal: Bool { told.attribution == .us || told.attribution == .upstream }
}
