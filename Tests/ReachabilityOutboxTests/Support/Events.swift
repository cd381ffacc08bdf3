import Netlink
import ReachabilityOutbox

/// What an outbox reported, in few words.
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
                }
            }
        }
    }

    var add: @Sendable (OutboxEvent) -> Void {
        { [self] event in state.withLock { $0.append(event) } }
    }
}
