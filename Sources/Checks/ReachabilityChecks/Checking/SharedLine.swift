import LinuxPrimitives

/// The round about the line itself, which all targets share: one at a time, and used again while it is young.
actor SharedLine {
    private let round: @Sendable () async -> LineOutcome
    private let latest = Locked<(outcome: LineOutcome, end: ContinuousClock.Instant)?>(nil)
    private var running: Task<LineOutcome, Never>?

    /// So long what was found is taken to hold.
    private static let lifetime = Duration.seconds(5)

    init(_ round: @escaping @Sendable () async -> LineOutcome) {
        self.round = round
    }

    /// What was found last; nil where a new round is needed.
    nonisolated var known: LineOutcome? {
        latest.withLock { latest in latest.flatMap { $0.end + Self.lifetime > .now ? $0.outcome : nil } }
    }

    /// What was found last, or what a new round finds. The round ends as soon as a task is cancelled that waits for it.
    func outcome() async -> LineOutcome {
        if let known { return known }
        let task = running ?? Task { [round] in await round() }
        running = task
        let outcome = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if running == task {
            running = nil
            latest.withLock { $0 = (outcome, .now) }
        }
        return outcome
    }
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
