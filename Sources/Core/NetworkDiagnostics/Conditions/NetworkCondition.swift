package import NetworkReachability

/// Something of a network namespace that may be waited for.
package enum NetworkCondition: Hashable, Sendable {
    /// What is wanted of the path to a target. The raw value is its name in arguments and JSON output.
    package enum Goal: String, Hashable, Sendable, CaseIterable {
        case reachable
        case notReachable = "not-reachable"
        /// Reachable over ethernet, Wi-Fi or anything else that is no modem.
        case ethernet
        /// Reachable over a modem.
        case wwan
    }

    /// The path to a host, or with nil to the network at large.
    case target(String?, Goal)
    /// The name service knows addresses of this name.
    case name(String)
    /// A usable route covers all of the prefix: one whose link carries packets, with a source address for them.
    case route(IPPrefix)
    /// The interface exists, is up, has a carrier, and has an address that packets to beyond its link may come from.
    case interface(String)
}

extension NetworkCondition.Goal {
    /// Whether it is reached with this status; never by one that is unknown.
    func isReached(by status: NetworkReachabilityStatus) -> Bool {
        switch self {
        case .reachable: status.isReachable
        case .notReachable: status == .notReachable
        case .ethernet: status == .reachable(.ethernetOrWiFi)
        case .wwan: status == .reachable(.wwan)
        }
    }
}

extension NetworkCondition {
    /// Whether a condition holds, and what was seen.
    package struct State: Hashable, Sendable {
        package var condition: NetworkCondition
        package var holds: Bool
        /// What stands in the way, as paths have it; nil where nothing does.
        package var reason: NetworkPath.UnsatisfiedReason?
        /// What was seen, in words.
        package var text: String

        /// Nothing has been seen yet.
        init(_ condition: NetworkCondition) {
            self.condition = condition
            holds = false
            text = "not evaluated yet"
        }

        /// The condition of a target or name, by the path to it.
        init(_ condition: NetworkCondition, _ path: NetworkPath) {
            self.condition = condition
            reason = path.reason
            text = path.description
            switch condition {
            case .target(_, let goal):
                holds = goal.isReached(by: path.status)
            default:
                // Without addresses there is nothing to look up; without a kernel nothing is known.
                holds = path.destination != nil
                reason = holds ? nil : path.reason
                text = holds ? "resolved" : path.reason?.description ?? "name not resolved"
            }
        }

        /// The condition of a route or interface, by what stands in its way.
        init(_ condition: NetworkCondition, obstacle: NetworkPath.UnsatisfiedReason?) {
            self.condition = condition
            holds = obstacle == nil
            reason = obstacle
            text = obstacle?.description ?? "usable"
        }
    }
}
