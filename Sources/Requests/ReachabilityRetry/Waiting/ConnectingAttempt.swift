/// An attempt that is ended where it cannot succeed: where it has sent nothing and there is no path, and where it was sent from an
/// address that this machine has no more, so that no answer can come; and where asking for the rest of an answer is sooner than waiting.
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
    /// Whether it is to show whether the monitor is right, so that the want of a path does not end it, but the return of one does.
    let isProbe: Bool
    /// Whether it may be done twice: only then is anything won by ending it after it was sent.
    let isRepeatable: Bool

    /// What is to be done at this time.
    enum Step {
        case end(any RetryableError)
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
        if progress.hasSent, !isRepeatable { return .sleep(until: nil) }
        guard now >= began + Self.patience else { return .sleep(until: began + Self.patience) }
        entry.enter()
        listen()
        let isOpen = coordinator.isOpen(host)
        let verdict = coordinator.ask(host)
        let isNew = progress.hasNewPath(by: verdict)
        if progress.hasSent {
            if progress.isInterrupted(by: verdict, now: now) { return .end(AttemptError.pathInterrupted) }
            guard let source = progress.source, source != verdict.source, !coordinator.source.isLocal(source) else {
                return .sleep(until: nil)
            }
            return .end(AttemptError.sourceAddressLost(source))
        }
        // What was begun while there was no path may hang long after there is one.
        let isVain = isProbe ? verdict.status == .reachable : (!isOpen && verdict.isOffline) || isNew
        if isVain, !progress.hasSent { return .end(AttemptError.noPath(verdict)) }
        guard let limit else { return .sleep(until: nil) }
        return now >= began + limit ? .end(AttemptError.notConnected(limit)) : .sleep(until: began + limit)
    }
}
