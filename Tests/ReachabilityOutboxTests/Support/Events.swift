import LinuxSupport
import ReachabilityOutbox

/// Records the events of an outbox as short texts. Thread-safe.
final class Events: Sendable {
    private let state: Locked<[OutboxEvent]> = Locked([])

    var texts: [String] {
        state.withLock { events in
            events.map { event in
                switch event {
                case .delivered: "delivered"
                case .postponed: "postponed"
                case .rejected(_, let reason): "rejected \(reason)"
                case .expired: "expired"
                case .held(let entry): "held \(entry.lastError ?? "")"
                case .dropped(let entry): "dropped \(entry.id)"
                case .skipped(let origin, let count, .notReachable(let reason)):
                    "\(origin) \(count) not reachable \(reason ?? "")"
                case .skipped(let origin, let count, .until): "\(origin) \(count) until"
                case .skipped(let origin, let count, .behind(let id)): "\(origin) \(count) behind \(id)"
                }
            }
        }
    }

    var add: @Sendable (OutboxEvent) -> Void {
        { [self] event in state.withLock { $0.append(event) } }
    }
}
