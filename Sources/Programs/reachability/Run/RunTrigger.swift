import ArgumentParser
import NetworkReachability

/// Which changes of the status `run` is for.
enum RunTrigger: String, ExpressibleByArgument, Sendable {
    /// Every change of the status, also from one connection type to another.
    case change
    /// Becoming reachable.
    case reachable
    /// Becoming not reachable.
    case notReachable = "not-reachable"

    /// Whether a change to `status` is of that kind.
    ///
    /// - Parameter previous: What it was before; nil when this is the first that is known.
    func includes(_ status: NetworkReachabilityStatus, after previous: NetworkReachabilityStatus?) -> Bool {
        switch self {
        case .change: status != previous
        case .reachable: status.isReachable && previous?.isReachable != true
        case .notReachable: status == .notReachable && previous != .notReachable
        }
    }
}
