import ArgumentParser
import NetworkReachability

/// Decides which states of one target a command is run for. Pure: it says what to run and does nothing.
///
/// It is given the newest state whenever nothing runs. So states that came and went during a run are passed over, and the
/// next run is told as previous what the last decision was about.
struct RunDecision: Sendable {
    private let triggers: Set<RunTrigger>
    private let runsInitially: Bool
    /// The status the last decision was about; nil until something is known.
    private var last: NetworkReachabilityStatus?

    /// - Parameters:
    ///   - triggers: Which changes count; one of them is enough.
    ///   - runsInitially: Whether the first status that is known counts as a change.
    init(_ triggers: Set<RunTrigger>, runsInitially: Bool) {
        self.triggers = triggers
        self.runsInitially = runsInitially
    }

    /// Takes the newest state, and says what to run for it, if anything.
    mutating func take(_ path: NetworkPath) -> StateChange? {
        let previous = last
        // A name that is still being resolved is no state yet.
        if previous == nil, path.status == .unknown { return nil }
        last = path.status
        guard previous != nil || runsInitially,
            triggers.contains(where: { $0.includes(path.status, after: previous) })
        else { return nil }
        return StateChange(path: path, previous: previous)
    }
}

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

/// A state a command is run for, and the one before it.
struct StateChange: Hashable, Sendable {
    let path: NetworkPath
    /// The status the decision before was about; nil when there was none.
    let previous: NetworkReachabilityStatus?
}
