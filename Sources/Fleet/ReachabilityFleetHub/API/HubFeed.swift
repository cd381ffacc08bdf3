import LinuxSupport
package import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityServer

/// The decisions of a hub as an event stream. Thread-safe. Callers must add decisions in the order in which the hub
/// made them.
package final class HubFeed: Sendable {
    /// The maximum size of the kept events, in bytes. It is enough for a site with thousands of devices that fail at
    /// the same time.
    private static let ringSize = 32 << 20

    package let events: EventFeed
    private let last = Locked<UInt64>(0)
    private let clock: @Sendable () -> Duration

    package init(clock: @escaping @Sendable () -> Duration = { SystemClock.real }) {
        self.clock = clock
        events = EventFeed(
            epoch: String(clock().milliseconds, radix: 36),
            ring: EventRing(after: 0, limit: 100_000, byteLimit: Self.ringSize),
            newest: { [last] in last.withLock(\.self) },
            schedule: { DispatchTimer.schedule(after: $0, on: $1, $2) }
        )
    }

    /// The number of the last event.
    var number: UInt64 { last.withLock(\.self) }

    /// Publishes decisions, with the current states of the devices and incidents.
    package func publish(_ decisions: [Hub.Decision], _ hub: Hub) {
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
        for change in HubEvents(decisions).changes {
            switch change {
            case .device(let place, let isDisputed):
                guard let device = hub.devices[place] else { continue }
                add(isDisputed ? "disputed" : "device", "device", hub.item(of: device))
            case .incident(let id, let site, let kind):
                guard let incident = hub.book.incident(id, at: site) else { continue }
                add(kind.eventName, "incident", IncidentSummary(incident).item(at: now, of: hub.siteCount))
            }
        }
        last.withLock { $0 = number }
        events.send(entries)
    }
}

/// The changes that a group of decisions makes. Each device occurs once, and each incident once for each kind of
/// change. A value.
struct HubEvents {
    enum Change: Hashable {
        case device(DeviceID, isDisputed: Bool)
        case incident(String, site: String, FleetIncidentTracker.Change.Kind)
    }

    private(set) var changes: [Change] = []

    init(_ decisions: [Hub.Decision]) {
        var known: Set<Change> = []
        var turned: Set<String> = []
        for case .incident(let change) in decisions where change.kind != .refined { turned.insert(change.incident) }
        for decision in decisions {
            let change: Change
            switch decision {
            // A repeated state of a device is not a change.
            case .noted, .refused, .replayRequired: continue
            case .stands(let place, _), .gap(let place): change = .device(place, isDisputed: false)
            case .disputed(let place): change = .device(place, isDisputed: true)
            case .incident(let refined) where refined.kind == .refined && turned.contains(refined.incident): continue
            case .incident(let made): change = .incident(made.incident, site: made.site, made.kind)
            }
            if known.insert(change).inserted { changes.append(change) }
        }
    }
}

extension FleetIncidentTracker.Change.Kind {
    /// The name of the change in the event stream.
    var eventName: String {
        switch self {
        case .opened: "incidentOpened"
        case .refined: "incidentRefined"
        case .reopened: "incidentReopened"
        case .closed: "incidentClosed"
        }
    }
}

/// Counters of a hub's decisions since the start of the process. Thread-safe.
package final class HubCounts: Sendable {
    struct Fault: Hashable {
        let attribution: String
        let cause: String
    }

    struct Values {
        /// The number of closed incidents by fault.
        var closed: [Fault: UInt64] = [:]
        /// The number of refused messages.
        var refused: UInt64 = 0
        /// The number of times that two devices used the same name.
        var disputed: UInt64 = 0
    }

    private let counted = Locked(Values())

    package init() {}

    var values: Values { counted.withLock(\.self) }

    package func count(_ decisions: [Hub.Decision], _ hub: Hub) {
        counted.withLock { values in
            for decision in decisions {
                switch decision {
                case .refused: values.refused += 1
                case .disputed: values.disputed += 1
                case .incident(let change) where change.kind == .closed:
                    guard let fault = hub.book.incident(change.incident, at: change.site)?.fault else { break }
                    let key = Fault(attribution: fault.attribution.rawValue, cause: fault.cause?.rawValue ?? "")
                    values.closed[key, default: 0] += 1
                case .incident, .noted, .stands, .gap, .replayRequired: break
                }
            }
        }
    }
}
