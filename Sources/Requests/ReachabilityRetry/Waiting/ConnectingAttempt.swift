/// An attempt that has sent nothing yet, and is ended where it cannot succeed.
///
/// Most attempts are connected within milliseconds, so nothing is watched for them: only who is not after a while has the
/// coordinator watch the host.
struct ConnectingAttempt: Sendable {
    /// How long an attempt may take to connect before the host is watched for it.
    private static let patience = Duration.milliseconds(250)

    let progress: AttemptProgress
    let entry: LaneEntry
    /// How long it may take; nil for as long as its client lets it.
    let limit: Duration?
    let began: Duration

    /// What is to be done at this time.
    enum Step {
        case end(UnsentAttempt)
        /// Looks again at this time, or when the path changes; nil for no time.
        case sleep(until: Duration?)
    }

    /// - Parameters:
    ///   - host: Whose path it needs.
    ///   - coordinator: Where the path is watched.
    ///   - now: The time of the run.
    ///   - listen: Begins to listen for changes of the path. Called at each look, before the coordinator is asked.
    func step(
        of host: String?,
        at coordinator: RetryCoordinator,
        now: Duration,
        listen: () -> Void
    ) -> Step {
        if progress.hasSent { return .sleep(until: nil) }
        guard now >= began + Self.patience else { return .sleep(until: began + Self.patience) }
        entry.enter()
        listen()
        let isOpen = coordinator.isOpen(host)
        let verdict = coordinator.ask(host)
        if (!isOpen && verdict.isOffline) || progress.hasNewPath(by: verdict), !progress.hasSent {
            return .end(.noPath(verdict))
        }
        guard let limit else { return .sleep(until: nil) }
        return now >= began + limit ? .end(.notConnected(limit)) : .sleep(until: began + limit)
    }
}
