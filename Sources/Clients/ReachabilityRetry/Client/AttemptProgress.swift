import LinuxSupport

/// The progress of the attempt under way, as its client reports it. One object serves all attempts of a request.
///
/// A client that cannot report when its request is sent calls ``send()`` when it begins. No attempt is cut then.
package final class AttemptProgress: Sendable {
    private struct State {
        var isSent = false
        /// The number of attempts that were ended before they had sent anything.
        var cuts = 0
        /// The first path that existed during the attempt.
        var path: RetryVerdict?
        /// The time when the path went away, on the clock of the run; nil if there is a path.
        var awaySince: Duration?
    }

    /// The longest loss after which the connection is left to TCP, whose next retransmission comes after about as long again.
    private static let shortLoss = Duration.milliseconds(500)

    private let state = Locked(State())
    private let resumes: @Sendable () -> Bool

    /// - Parameter resumes: Whether the rest of a response that breaks off can be requested.
    package init(resumes: @escaping @Sendable () -> Bool = { false }) {
        self.resumes = resumes
    }

    /// Whether something of the request has left, or may have left.
    package var hasSent: Bool { state.withLock { $0.isSent } }

    /// The number of attempts that were ended before they had sent anything. The connection of each may still be in progress.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Reports that something of the request leaves now.
    package func send() {
        state.withLock { $0.isSent = true }
    }

    /// Begins another attempt.
    func begin() {
        state.withLock { $0 = State(cuts: $0.cuts) }
    }

    /// Counts an attempt that was ended before it had sent anything.
    func cut() {
        state.withLock { $0.cuts += 1 }
    }

    /// The generation of the path when it was first queried during the attempt; nil before that.
    var generation: UInt64? { state.withLock { $0.path?.generation } }

    /// The source address of packets then; nil if it is not known.
    var source: String? { state.withLock { $0.path?.source } }

    /// Receives a verdict while a response is awaited or read. Returns whether the path is back after a long loss, and the rest of the response
    /// can be requested.
    func isInterrupted(by verdict: RetryVerdict, now: Duration) -> Bool {
        let wasAwayForLong = state.withLock { state in
            if verdict.isOffline { state.awaySince = state.awaySince ?? now }
            guard verdict.status == .reachable, let since = state.awaySince else { return false }
            state.awaySince = nil
            return now - since >= Self.shortLoss
        }
        return wasAwayForLong && resumes()
    }

    /// Receives a verdict while nothing was sent. Returns whether the path has changed since the first one.
    func hasNewPath(by verdict: RetryVerdict) -> Bool {
        guard verdict.status == .reachable else { return false }
        return state.withLock { state in
            guard let path = state.path else {
                state.path = verdict
                return false
            }
            return verdict.generation > path.generation
        }
    }
}

/// The head of a response, from any client.
public struct AnswerHead: Sendable {
    /// The status, 100 to 599.
    public let status: Int

    private let field: @Sendable (String) -> String?

    /// - Parameters:
    ///   - status: The status.
    ///   - field: The first value of a header field, whatever the case of its name.
    public init(status: Int, field: @escaping @Sendable (_ name: String) -> String?) {
        self.status = status
        self.field = field
    }

    /// The first value of a header field.
    public subscript(name: String) -> String? { field(name) }
}

/// The value of an attempt, and the head of the response, which decides what follows.
package struct ClientAnswer<Value: Sendable>: Sendable {
    package let value: Value
    package let head: AnswerHead

    package init(_ value: Value, _ head: AnswerHead) {
        self.value = value
        self.head = head
    }
}

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
