package import LinuxSupport
package import NetworkReachability
import ReachabilityChecks
import ReachabilityLedger

/// A host, the whole network, or a sender of pushes that the service monitors.
package struct ServiceTarget: Hashable, Sendable {
    /// The name in the configuration, the API and the metrics.
    package let name: String
    /// The name or address of a host; nil for the whole network and for a sender of pushes.
    package let host: String?
    /// The network namespace from which the target is monitored.
    package var namespace = NetworkNamespace.current
    /// The interface to which packets are bound; nil for any interface.
    package var interface: String?
    /// The firewall mark of the packets (SO_MARK); 0 for none.
    package var mark: UInt32 = 0
    /// The required address family; nil for any family.
    package var family: AddressFamily?
    /// The settings of the checks. If nil, no packets are sent, and the state follows the kernel's path only.
    package var checks: CheckSettings?
    /// The minimum duration of an outage that is reported. If nil, the setting `after` of each notifier applies.
    package var settle: Duration?
    /// The heading below which the overview lists the target; nil for none.
    package var group: String?

    /// The settings of the pushes that the target sends; nil for a target with a path.
    package var push: PushSettings?
    /// The words by which the overview can be filtered.
    package var tags: [String] = []
    /// A sentence about the target; nil for none.
    package var description: String?
    /// The position in the overview. Targets with the same number have the order of the configuration.
    package var order = 0
    /// A Boolean value that indicates whether the target is monitored.
    package var isEnabled = true

    /// A copy with only the properties that determine the path or the pushes.
    var path: ServiceTarget {
        var target = self
        (target.checks, target.settle, target.group, target.description) = (nil, nil, nil, nil)
        (target.tags, target.order) = ([], 0)
        return target
    }

    /// The host and the kinds of the checks, such as `192.0.2.40 · tcp 9100`.
    package var summary: String {
        if let push { return "push every \(DurationText.text(push.interval))" }
        guard let checks else { return [host, "route only"].compactMap(\.self).joined(separator: " · ") }
        let kinds = checks.checks.map { $0.target.map(\.summary) ?? "gateway, DNS" }
        let anchors = checks.anchors.count == 1 ? "1 anchor" : "\(checks.anchors.count) anchors"
        let all = [host] + kinds.filter { $0 != host } + (host == nil && !checks.anchors.isEmpty ? [anchors] : [])
        return all.compactMap(\.self).joined(separator: " · ")
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

/// An observer of the path to one target. It observes until it is released.
final class PathObserver: Sendable {
    let manager: NetworkReachabilityManager
    private let subscription: Subscription

    /// - Parameter changed: Receives the current path and then each change, on the queue of the monitor of the network namespace.
    init(_ manager: NetworkReachabilityManager, _ changed: @escaping @Sendable (PathChange) -> Void) {
        self.manager = manager
        let interest: NetworkReachabilityInterest = [.status, .reason, .egress, .carrier]
        subscription = Subscription(to: manager.record, interest: interest, settle: .immediate) { change, this in
            this.call(since: change.noticed) { changed(change) }
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
