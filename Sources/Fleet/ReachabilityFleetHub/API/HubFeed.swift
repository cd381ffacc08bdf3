import LinuxSupport
package import ReachabilityFleet
package import ReachabilityServer

/// What a hub has decided, as events of a stream. Thread-safe; it is told in order.
package final class HubFeed: Sendable {
    /// So many bytes of events are kept for those who come again: a site with thousands of machines makes some at once.
    private static let ringSize = 32 << 20

    package let events: EventFeed
    private let last = Locked<UInt64>(0)
    private let clock: @Sendable () -> Duration

    /// - Parameter clock: The hub's, since 1970.
    package init(clock: @escaping @Sendable () -> Duration = { SystemClock.real }) {
        self.clock = clock
        events = EventFeed(
            epoch: String(clock().milliseconds, radix: 36),
            ring: EventRing(after: 0, limit: 100_000, byteLimit: Self.ringSize),
            newest: { [last] in last.withLock(\.self) },
            schedule: { DispatchTimer.schedule(after: $0, on: $1, $2) }
        )
    }

    /// The number of the last event that was sent.
    var number: UInt64 { last.withLock(\.self) }

    /// Tells of decisions, each machine and each incident as it is now.
    package func tell(_ decisions: [Hub.Decision], _ hub: Hub) {
        let now = clock()
        var entries: [EventRing.Entry] = []
        var number = number
        func add(_ name: String, _ key: String, _ item: Item) {
            number += 1
            let position = StreamPosition(epoch: events.epoch, number: number)
            var object = JSONObject()
            object.add("schema", 1)
            object.add("id", position.description)
            object.add("event", name)
            object.add("time", Timestamp(real: now))
            object.add(key, item.object)
            object.add("kind", "event")
            entries.append(.init(name, position, object, line: "\(Timestamp(real: now).text) \(name) \(item.text)"))
        }
        for change in HubTelling(decisions).changes {
            switch change {
            case .device(let place, let isDisputed):
                guard let device = hub.devices[place] else { continue }
                add(isDisputed ? "disputed" : "device", "device", hub.item(of: device))
            case .incident(let id, let site, let kind):
                guard let incident = hub.book.incident(id, at: site) else { continue }
                add(kind.eventName, "incident", IncidentSummary(incident).item(at: now))
            }
        }
        last.withLock { $0 = number }
        events.send(entries)
    }
}

/// What is worth telling of decisions that were made together: each machine once, and of each incident each turn it took. Pure.
struct HubTelling {
    enum Change: Hashable {
        case device(FleetPlace, isDisputed: Bool)
        case incident(String, site: String, FleetIncidentBook.Change.Kind)
    }

    private(set) var changes: [Change] = []

    init(_ decisions: [Hub.Decision]) {
        var known: Set<Change> = []
        var turned: Set<String> = []
        for case .incident(let change) in decisions where change.kind != .refined { turned.insert(change.incident) }
        for decision in decisions {
            let change: Change
            switch decision {
            // A machine that says the same again is not worth a word, nor is what is not taken.
            case .noted, .refused, .behind: continue
            case .stands(let place, _), .gap(let place): change = .device(place, isDisputed: false)
            case .disputed(let place): change = .device(place, isDisputed: true)
            case .incident(let refined) where refined.kind == .refined && turned.contains(refined.incident): continue
            case .incident(let told): change = .incident(told.incident, site: told.place.site, told.kind)
            }
            if known.insert(change).inserted { changes.append(change) }
        }
    }
}

extension FleetIncidentBook.Change.Kind {
    /// Its name in the stream.
    var eventName: String {
        switch self {
        case .opened: "incidentOpened"
        case .refined: "incidentRefined"
        case .reopened: "incidentReopened"
        case .closed: "incidentClosed"
        }
    }
}
