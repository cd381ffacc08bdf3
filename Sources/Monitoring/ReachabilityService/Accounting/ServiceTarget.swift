package import LinuxSupport
package import NetworkReachability
import ReachabilityLedger

/// A target of the service.
package struct ServiceTarget: Hashable, Sendable {
    /// The name in the configuration, the API and metrics.
    package let name: String
    /// The name or address of a host; nil for the whole network.
    package let host: String?
    package let namespace: NetworkNamespace
    /// The interface that packets are bound to; nil for any.
    package let interface: String?
    /// The firewall mark of the packets, 0 for none.
    package let mark: UInt32
    /// The required address family; nil for any.
    package let family: AddressFamily?
    /// Nil for a target without checks.
    package var checks: CheckSettings?
    /// The minimum duration of an outage that is notified; nil for the setting of each notifier.
    package var settle: Duration?

    package init(
        name: String,
        host: String?,
        namespace: NetworkNamespace = .current,
        interface: String? = nil,
        mark: UInt32 = 0,
        family: AddressFamily? = nil,
        checks: CheckSettings? = nil,
        settle: Duration? = nil
    ) {
        (self.name, self.host, self.namespace) = (name, host, namespace)
        (self.interface, self.mark, self.family) = (interface, mark, family)
        (self.checks, self.settle) = (checks, settle)
    }

    /// The properties that determine the kernel's answer.
    var path: ServiceTarget {
        var target = self
        (target.checks, target.settle) = (nil, nil)
        return target
    }

    /// The default target: the whole network.
    package static let internet = ServiceTarget(name: "internet", host: nil)

    /// Creates the manager of the target.
    package func makeManager() throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        options.interface = interface
        options.firewallMark = mark
        options.family = family
        // Until the name service answers, the state is unknown.
        options.nameResolutionWait = .zero
        guard let host else { return try NetworkReachabilityManager(options: options) }
        return try NetworkReachabilityManager(host: host, options: options)
    }
}

/// Follows the path to one target while it is referenced. Each change is reported with the time at which the kernel's event was received.
package final class PathObserver: Sendable {
    package struct Change: Sendable {
        package let path: NetworkPath
        /// When the event was received, on CLOCK_MONOTONIC; nil for a change without an event.
        package let noticed: Duration?
        /// When the last event that may have caused the change was received; nil if there was only one.
        package let completed: Duration?
        /// The number of losses of the carrier since the last change that ended before the kernel reported them.
        package let missedLosses: UInt32
        /// The netlink port of the process that removed something, if nothing else can be the cause. It may be wrong.
        package let remover: UInt32?
    }

    package let manager: NetworkReachabilityManager
    private let subscription: Subscription

    /// - Parameter changed: Called on the queue of the namespace's monitor in the order of evaluation, first with the current path.
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

    /// The observation of a path.
    init(_ path: NetworkPath) {
        let reason = path.reason?.rawValue ?? "unknown"
        switch path.status {
        case .reachable: self = .reachable
        case .notReachable: self = .notReachable(reason: reason)
        case .unknown: self = .unknown(reason: reason)
        }
    }
}
