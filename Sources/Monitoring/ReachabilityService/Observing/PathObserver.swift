import LinuxSupport
package import NetworkReachability
import ReachabilityLedger

/// Follows the path to one target, for as long as it is held: each change at once, with the time at which the kernel's event was
/// received.
package final class PathObserver: Sendable {
    /// What is told of a path.
    package struct Change: Sendable {
        package let path: NetworkPath
        /// When the event was received, on CLOCK_MONOTONIC; nil where none led to it.
        package let noticed: Duration?
        /// When the last event that may have led to it was known of; nil where that is the same.
        package let completed: Duration?
        /// How often the carrier was lost since the last change and was back before the kernel reported it. The path is as it was.
        package let missedLosses: UInt32
        /// The netlink port of whoever took something away, where nothing else can have led to it; it may be wrong.
        package let remover: UInt32?
    }

    package let manager: NetworkReachabilityManager
    private let subscription: Subscription

    /// - Parameter changed: Called on the queue of the namespace's monitor, first with what is so, in the order of evaluation.
    package init(_ manager: NetworkReachabilityManager, _ changed: @escaping @Sendable (Change) -> Void) {
        self.manager = manager
        subscription = Subscription(
            to: manager.record,
            interest: [.status, .reason, .egress, .carrier],
            settle: .immediate
        ) {
            change,
            subscription in
            subscription.call(since: change.noticed) {
                changed(
                    Change(
                        path: change.path,
                        noticed: change.noticed,
                        completed: change.completed,
                        missedLosses: change.previous.map { change.path.carrierLosses(since: $0) } ?? 0,
                        remover: change.remover
                    )
                )
            }
        }
        subscription.begin()
    }

    deinit {
        subscription.end()
    }
}

extension Observation.Path {
    /// The name service has not answered yet.
    static let resolving = Self.unknown(reason: "resolving")

    /// What the kernel's path means for the ledger.
    init(_ path: NetworkPath) {
        let reason = path.reason?.rawValue ?? "unknown"
        switch path.status {
        case .reachable: self = .reachable
        case .notReachable: self = .notReachable(reason: reason)
        case .unknown: self = .unknown(reason: reason)
        }
    }
}
