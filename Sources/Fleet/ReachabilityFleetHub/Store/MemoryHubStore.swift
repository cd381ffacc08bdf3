import LinuxSupport
package import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

/// Keeps it for as long as the process lives: for tests, and for `--history none`.
package final class MemoryHubStore: HubStore {
    fileprivate struct State {
        var devices: [FleetPlace: HubDevice] = [:]
        var summaries: [String: IncidentSummary] = [:]
        var parts: [String: [String: FleetIncident.Part]] = [:]
        var told: [String: Incident] = [:]
        var age: HubAge?
    }

    private let state = Locked(State())

    package init() {}

    package func contents() -> HubContents {
        state.withLock { state in
            var contents = HubContents()
            contents.devices = Array(state.devices.values)
            var over: [String: Int] = [:]
            for summary in state.ordered {
                if summary.end != nil {
                    over[summary.site, default: 0] += 1
                    if over[summary.site, default: 0] > HubContents.kept { continue }
                }
                contents.incidents.append(state.incident(summary))
            }
            return contents
        }
    }

    package func save(_ changes: HubChanges) {
        state.withLock { state in
            for device in changes.devices { state.devices[device.place] = device }
            for summary in changes.incidents { state.summaries[summary.id] = summary }
            for part in changes.parts { state.parts[part.incident, default: [:]][part.device] = part.part }
        }
    }

    package func hasOutage(_ id: String, of place: FleetPlace) -> Bool {
        state.withLock { state in
            state.summaries.values.contains { summary in
                summary.site == place.site && state.parts[summary.id]?[place.device]?.outages[id] != nil
            }
        }
    }

    package func incidents(_ query: IncidentQuery) -> [IncidentSummary] {
        state.withLock { state in
            var rest = state.ordered[...]
            if let after = query.after {
                guard let last = rest.firstIndex(where: { $0.id == after }) else { return [] }
                rest = rest[(last + 1)...]
            }
            let parts = state.parts
            let found = rest.filter { summary in
                (query.site.map { $0 == summary.site } ?? true) && (!query.isOpen || summary.end == nil)
                    && (query.device.map { parts[summary.id]?[$0] != nil } ?? true)
            }
            return Array(found.prefix(query.limit))
        }
    }

    package func incident(_ id: String) -> FleetIncident? {
        state.withLock { state in state.summaries[id].map { state.incident($0) } }
    }

    package func forget(_ places: [FleetPlace]) {
        state.withLock { state in for place in places { state.forget(place) } }
    }

    package func deleteIncidents(endedBefore moment: Duration, limit: Int) -> Int {
        state.withLock { state in
            let gone = state.ordered.reversed().filter { $0.end.map { $0 < moment } ?? false }.prefix(limit)
            for summary in gone { (state.summaries[summary.id], state.parts[summary.id]) = (nil, nil) }
            return gone.count
        }
    }

    package func told() -> [Incident] {
        state.withLock { $0.told.values.sorted { ($0.start, $0.id) < ($1.start, $1.id) } }
    }

    package func save(told: [Incident], forgetting gone: [String]) {
        state.withLock { state in
            for incident in told { state.told[incident.id] = incident.kept }
            for id in gone { state.told[id] = nil }
        }
    }

    package func age() -> HubAge? { state.withLock(\.age) }

    package func save(_ age: HubAge) { state.withLock { $0.age = age } }

    package func close() {}
}

extension MemoryHubStore.State {
    fileprivate mutating func forget(_ place: FleetPlace) {
        devices[place] = nil
        for (id, summary) in summaries where summary.site == place.site {
            guard parts[id]?.removeValue(forKey: place.device) != nil else { continue }
            let rest = parts[id] ?? [:]
            summaries[id] = rest.isEmpty ? nil : summary.with(rest.keys.sorted())
            if rest.isEmpty { parts[id] = nil }
        }
    }

    /// The latest first.
    fileprivate var ordered: [IncidentSummary] {
        summaries.values.sorted { ($0.start, $0.id) > ($1.start, $1.id) }
    }

    fileprivate func incident(_ summary: IncidentSummary) -> FleetIncident {
        FleetIncident(id: summary.id, site: summary.site, start: summary.start, parts: parts[summary.id] ?? [:])
    }
}
