package import NetworkReachability

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
