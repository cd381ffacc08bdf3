import ReachabilityLedger

/// Makes incidents of silences and outages: one for each site at a time, which is refined, never a second for the same thing. A value;
/// times are by the hub's clock, since 1970.
///
/// An incident comes from the machines' own outages. A silence only opens one earlier; what its machine tells afterwards refines that one,
/// also when it was over by then.
package struct FleetIncidentBook: Sendable {
    package enum Change: Hashable, Sendable {
        case opened(FleetIncident)
        case refined(FleetIncident)
        case closed(FleetIncident)

        package var incident: FleetIncident {
            switch self {
            case .opened(let incident), .refined(let incident), .closed(let incident): incident
            }
        }
    }

    /// What lies no further apart is one thing.
    package static let closeness: Duration = .seconds(30)
    /// So many that are over are kept of a site, to be refined by what is told late.
    static let kept = 16
    /// So many outages of a machine are kept in one incident.
    static let outageLimit = 256

    private var sites: [String: [FleetIncident]] = [:]
    private var count = 0

    package init() {}

    /// The latest first.
    package var incidents: [FleetIncident] { sites.values.joined().sorted { ($0.start, $0.id) > ($1.start, $1.id) } }

    package func open(at site: String) -> FleetIncident? { sites[site]?.last { $0.isOpen } }

    // MARK: What happens

    /// A machine fell silent; `since` then nothing was heard of it.
    package mutating func fell(
        _ place: FleetPlace,
        since: Duration,
        before: DeviceState.Report?
    ) -> [Change] {
        let index = openIndex(at: place.site) ?? begin(at: place.site, since)
        return change(place, index) { part in
            guard part.silentSince == nil || part.returned != nil else { return }
            part.silentSince = part.silentSince ?? since
            part.returned = nil
            part.evidence = SilenceEvidence()
            part.evidence.before = before
        }
    }

    /// It is there again, and will tell what it knows.
    package mutating func returned(_ place: FleetPlace, after: DeviceState.Report, at now: Duration) -> [Change] {
        guard let index = silentIndex(place) else { return [] }
        return change(place, index) { part in
            part.returned = now
            part.evidence.after = after
            part.evidence.isToldWhole = false
        }
    }

    /// It slept meanwhile.
    package mutating func slept(_ place: FleetPlace) -> [Change] {
        guard let index = silentIndex(place) else { return [] }
        return change(place, index) { $0.evidence.slept = true }
    }

    /// It has told all it knows.
    package mutating func caughtUp(_ place: FleetPlace) -> [Change] {
        guard let index = silentIndex(place), part(place, index).returned != nil else { return [] }
        return change(place, index) { $0.evidence.isToldWhole = true }
    }

    /// It tells of an outage of its own, for the first time or again.
    ///
    /// - Parameters:
    ///   - start: When that began, and
    ///   - end: ended, by the hub's clock.
    package mutating func told(
        _ place: FleetPlace,
        _ outage: DeviceOutage,
        start: Duration,
        end: Duration?
    ) -> [Change] {
        guard outage.attribution != .unknown, outage.attribution != .up else { return [] }
        let index =
            knownIndex(place, outage.id) ?? nearIndex(at: place.site, start, end) ?? begin(at: place.site, start)
        return change(place, index) { part in
            // An end is final.
            if part.outages[outage.id]?.end != nil { return }
            guard part.outages[outage.id] != nil || part.outages.count < Self.outageLimit else { return }
            // Where it began stays where it was seen first, whatever clocks do.
            let began = part.outages[outage.id]?.start ?? start
            part.outages[outage.id] = .init(told: outage, start: began, end: end.map { max($0, began) })
            part.evidence.outages.removeAll { $0.id == outage.id }
            part.evidence.outages.append(outage)
        }
    }

    // MARK: Where it belongs

    private func openIndex(at site: String) -> Int? { sites[site]?.lastIndex { $0.isOpen } }

    private func silentIndex(_ place: FleetPlace) -> Int? {
        sites[place.site]?.lastIndex { $0.isOpen && $0.parts[place.device]?.silentSince != nil }
    }

    private func knownIndex(_ place: FleetPlace, _ outage: String) -> Int? {
        sites[place.site]?.lastIndex { $0.parts[place.device]?.outages[outage] != nil }
    }

    private func nearIndex(at site: String, _ start: Duration, _ end: Duration?) -> Int? {
        sites[site]?.lastIndex { incident in
            if incident.isOpen { return end.map { $0 >= incident.start - Self.closeness } ?? true }
            guard let last = incident.end else { return false }
            return start <= last + Self.closeness && (end ?? last) >= incident.start - Self.closeness
        }
    }

    private mutating func begin(at site: String, _ start: Duration) -> Int {
        count += 1
        let id = "\(site)-\(String(start.milliseconds, radix: 36))-\(String(count, radix: 36))"
        var all = sites[site] ?? []
        if all.count > Self.kept, let first = all.firstIndex(where: { !$0.isOpen }) { all.remove(at: first) }
        all.append(FleetIncident(id: id, site: site, parts: [:]))
        sites[site] = all
        return all.count - 1
    }

    private func part(_ place: FleetPlace, _ index: Int) -> FleetIncident.Part {
        sites[place.site]?[index].parts[place.device] ?? .init()
    }

    // MARK: What becomes of it

    private mutating func change(
        _ place: FleetPlace,
        _ index: Int,
        _ body: (inout FleetIncident.Part) -> Void
    ) -> [Change] {
        guard var incident = sites[place.site]?[index] else { return [] }
        let before = incident
        var part = incident.parts[place.device] ?? .init()
        body(&part)
        guard part != incident.parts[place.device] else { return [] }
        incident.parts[place.device] = part
        Self.countNeighbours(&incident)
        incident.end =
            incident.parts.values.contains(where: \.isOpen)
            ? nil : incident.parts.values.compactMap(\.end).max() ?? incident.start
        sites[place.site]?[index] = incident
        return Self.changes(from: before, to: incident)
    }

    private static func countNeighbours(_ incident: inout FleetIncident) {
        let parts = incident.parts
        for (device, part) in parts {
            guard let since = part.silentSince else { continue }
            let neighbours = parts.count { other, neighbour in
                guard other != device, let fell = neighbour.silentSince else { return false }
                return fell <= since + closeness && since <= fell + closeness
            }
            incident.parts[device]?.evidence.neighbours = neighbours
        }
    }

    private static func changes(from before: FleetIncident, to incident: FleetIncident) -> [Change] {
        if before.parts.isEmpty {
            return incident.isOpen ? [.opened(incident)] : [.opened(incident), .closed(incident)]
        }
        if before.isOpen, !incident.isOpen { return [.closed(incident)] }
        return [.refined(incident)]
    }
}
