/// Ends an attempt that cannot succeed, or that is slower than another one:
///
/// - nothing was sent, and there is no path or another path;
/// - it was sent from an address that this machine has no more, so that no response can arrive;
/// - the path was away for long while the response was read, and the rest can be requested.
///
/// Most attempts are connected within milliseconds. The host is watched only for an attempt that takes longer.
struct ConnectingAttempt: Sendable {
    /// The time without a connection after which the host is watched.
    private static let patience = Duration.milliseconds(250)

    let progress: AttemptProgress
    let entry: LaneEntry
    /// The maximum time until something is sent; nil for the limits of the client.
    let limit: Duration?
    let began: Duration
    /// Whether the attempt tests the monitor. A missing path does not end it then, and the return of a path does.
    let isProbe: Bool
    /// Whether the request may be repeated. Otherwise the attempt is not ended after it was sent.
    let isRepeatable: Bool

    /// The next step.
    enum Step {
        case end(any RetryableError)
        /// Checks again at this time, or when the path changes; nil for no time.
        case sleep(until: Duration?)
    }

    /// - Parameters:
    ///   - host: The host of the request.
    ///   - coordinator: Watches the path.
    ///   - now: The time of the run.
    ///   - listen: Begins to listen for changes of the path. Called before each query.
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
        // An attempt that was begun without a path may hang long after there is one.
        let isVain = isProbe ? verdict.status == .reachable : (!isOpen && verdict.isOffline) || isNew
        if isVain, !progress.hasSent { return .end(AttemptError.noPath(verdict)) }
        guard let limit else { return .sleep(until: nil) }
        return now >= began + limit ? .end(AttemptError.notConnected(limit)) : .sleep(until: began + limit)
    }
}
