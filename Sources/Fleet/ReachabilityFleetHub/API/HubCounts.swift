import LinuxSupport
package import ReachabilityFleet
import ReachabilityLedger

/// What a hub has decided since it began, counted for its metrics. Thread-safe.
package final class HubCounts: Sendable {
    struct Fault: Hashable {
        let attribution: String
        let cause: String
    }

    struct Values {
        /// Incidents that came to an end, by whose fault they were then.
        var closed: [Fault: UInt64] = [:]
        var opened: UInt64 = 0
        /// Messages that were not taken.
        var refused: UInt64 = 0
        /// How often two machines used one name.
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
                case .incident(let change) where change.kind == .opened: values.opened += 1
                case .incident(let change) where change.kind == .closed:
                    guard let fault = hub.book.incident(change.incident, at: change.place.site)?.fault else { break }
                    let key = Fault(attribution: fault.attribution.rawValue, cause: fault.cause?.rawValue ?? "")
                    values.closed[key, default: 0] += 1
                case .incident, .noted, .stands, .gap, .behind: break
                }
            }
        }
    }
}
