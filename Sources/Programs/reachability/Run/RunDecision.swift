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
