package import LinuxSupport
package import NetworkReachability
import ReachabilityLedger

/// A host, or the whole network, that the service monitors.
package struct ServiceTarget: Hashable, Sendable {
    /// The name in the configuration, the API and the metrics.
    package let name: String
    /// The name or address of a host; nil for the whole network.
    package let host: String?
    /// The network namespace from which the target is monitored.
    package let namespace: NetworkNamespace
    /// The interface to which packets are bound; nil for any interface.
    package let interface: String?
    /// The firewall mark of the packets (SO_MARK); 0 for none.
    package let mark: UInt32
    /// The required address family; nil for any family.
    package let family: AddressFamily?
    /// The settings of the checks. If nil, no packets are sent, and the state follows the kernel's path only.
    package var checks: CheckSettings?
    /// The minimum duration of an outage that is reported. If nil, the setting `after` of each notifier applies.
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

    /// A copy with only the properties that determine the path.
    var path: ServiceTarget {
        var target = self
        (target.checks, target.settle) = (nil, nil)
        return target
    }

    /// The default target: the whole network.
    package static let internet = ServiceTarget(name: "internet", host: nil)

    /// Creates the manager that monitors the path to the target.
    package func makeManager() throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        options.interface = interface
        options.firewallMark = mark
        options.family = family
        // The manager does not wait for the name service. Until it answers, the state is unknown.
        options.nameResolutionWait = .zero
        guard let host else { return try NetworkReachabilityManager(options: options) }
        return try NetworkReachabilityManager(host: host, options: options)
    }
}

/// An observer of the path to one target. It observes until it is released. Each change is reported with the time at which the kernel's
/// event was received.
package final class PathObserver: Sendable {
    /// A change of the path.
    package struct Change: Sendable {
        package let path: NetworkPath
        /// The time at which the event was received, on CLOCK_MONOTONIC; nil for a change without an event.
        package let noticed: Duration?
        /// The time at which the last of several events that may have caused the change was received; nil for a single event.
        package let completed: Duration?
        /// The number of carrier losses since the previous change that ended before the kernel reported them.
        package let missedLosses: UInt32
        /// The netlink port ID of the socket that requested a removal, if this removal is the only possible cause of the change. A port ID
        /// does not prove an identity.
        package let remover: UInt32?
    }

    package let manager: NetworkReachabilityManager
    private let subscription: Subscription

    /// - Parameter changed: Receives the current path and then each change, on the queue of the monitor of the network namespace.
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
    /// The observation while the name service has not answered.
    static let resolving = Self.unknown(reason: "resolving")

    /// Creates the observation of a path.
    init(_ path: NetworkPath) {
        let reason = path.reason?.rawValue ?? "unknown"
        switch path.status {
        case .reachable: self = .reachable
        case .notReachable: self = .notReachable(reason: reason)
        case .unknown: self = .unknown(reason: reason)
        }
    }
}
