import LinuxSupport

/// The round about the line itself, which all targets share: one at a time, and used again while it is young.
actor SharedLine {
    private let round: @Sendable () async -> LineOutcome
    /// Whether a round goes on though nobody waits for it any more.
    private let outlivesWaiters: Bool
    private let latest = Locked<(outcome: LineOutcome, end: ContinuousClock.Instant)?>(nil)
    private var running: Task<LineOutcome, Never>?

    /// So long what was found is taken to hold.
    private static let lifetime = Duration.seconds(5)

    /// - Parameter outlivesWaiters: whether a round goes on though a task is cancelled that waits for it.
    init(outlivesWaiters: Bool = false, _ round: @escaping @Sendable () async -> LineOutcome) {
        (self.outlivesWaiters, self.round) = (outlivesWaiters, round)
    }

    /// What was found last; nil where a new round is needed.
    nonisolated var known: LineOutcome? { known(since: .now - Self.lifetime) }

    /// What a round found that ended then or later.
    nonisolated private func known(since time: ContinuousClock.Instant) -> LineOutcome? {
        latest.withLock { latest in latest.flatMap { $0.end >= time ? $0.outcome : nil } }
    }

    /// What was found last, or what a new round finds. The round ends as soon as a task is cancelled that waits for it, unless it outlives
    /// those.
    ///
    /// - Parameter time: since when a round must have ended; nil for a few seconds ago.
    func outcome(since time: ContinuousClock.Instant? = nil) async -> LineOutcome {
        if let known = known(since: time ?? .now - Self.lifetime) { return known }
        let task = running ?? Task { [round] in await round() }
        running = task
        let outcome =
            if outlivesWaiters {
                await task.value
            } else {
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        if running == task {
            running = nil
            latest.withLock { $0 = (outcome, .now) }
        }
        return outcome
    }

    /// Ends the round that is under way.
    func cancel() { running?.cancel() }
}

/// What is known of the line when its round ends.
struct LineOutcome: Sendable {
    var results: [ProbeResult] = []
    /// Of packets that came in.
    var dropped: [AddressFamily: Int] = [:]
    var isReversePathFiltered = false
    /// The ways below tunnels, each judged by itself.
    var underlay: [CheckEvidence] = []
}
