import LinuxSupport

/// The progress of the current attempt, as its client reports it. One object serves all attempts of a request.
/// Thread-safe.
///
/// A client that cannot report when its request is sent calls ``send()`` at the beginning. Then no attempt is ended
/// early.
package final class AttemptProgress: Sendable {
    private struct State {
        /// The time when a part of the request was sent first, on the clock of the run.
        var sentAt: Duration?
        /// The number of attempts that were ended before they sent anything.
        var cuts = 0
        /// The first reachability of the attempt that had a path.
        var path: HostReachability?
        /// The time when the path was lost, on the clock of the run; nil while there is a path.
        var awaySince: Duration?
    }

    /// The longest interruption after which the connection is left to TCP. Its next retransmission comes after about
    /// the same time again.
    private static let shortLoss = Duration.milliseconds(500)

    private let state = Locked(State())
    private let resumes: @Sendable () -> Bool
    private let now: @Sendable () -> Duration

    /// Creates the progress of a request.
    ///
    /// - Parameters:
    ///   - now: Returns the time on the clock of the run.
    ///   - resumes: True if the rest of an interrupted response can be requested.
    package init(
        now: @escaping @Sendable () -> Duration = { .zero },
        resumes: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.now, self.resumes) = (now, resumes)
    }

    /// A Boolean value that indicates whether a part of the request was sent, or may have been sent.
    package var hasSent: Bool { sentAt != nil }

    /// The time when a part of the request was sent first, on the clock of the run; nil before that.
    var sentAt: Duration? { state.withLock { $0.sentAt } }

    /// The number of attempts that were ended before they sent anything. The connection of each may still be in
    /// progress.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Records that a part of the request is sent now.
    package func send() {
        let now = now()
        state.withLock { $0.sentAt = $0.sentAt ?? now }
    }

    /// Records that another attempt begins.
    func begin() {
        state.withLock { $0 = State(cuts: $0.cuts) }
    }

    /// Counts an attempt that was ended before it sent anything.
    func cut() {
        state.withLock { $0.cuts += 1 }
    }

    /// The generation of the path when it was first queried during the attempt; nil before that.
    var generation: UInt64? { state.withLock { $0.path?.generation } }

    /// The source address of packets at that time; nil if it is not known.
    var source: String? { state.withLock { $0.path?.source } }

    /// Records a state while a response is awaited or read. Returns whether the path is back after a long
    /// interruption, and the rest of the response can be requested.
    func isInterrupted(by reachability: HostReachability, now: Duration) -> Bool {
        let wasAwayForLong = state.withLock { state in
            if reachability.isOffline { state.awaySince = state.awaySince ?? now }
            guard reachability.status == .reachable, let since = state.awaySince else { return false }
            state.awaySince = nil
            return now - since >= Self.shortLoss
        }
        return wasAwayForLong && resumes()
    }

    /// Records a state while nothing was sent. Returns whether the path has changed since the first reachability.
    func hasNewPath(by reachability: HostReachability) -> Bool {
        guard reachability.status == .reachable else { return false }
        return state.withLock { state in
            guard let path = state.path else {
                state.path = reachability
                return false
            }
            return reachability.generation > path.generation
        }
    }
}

/// The status and header fields of a response, from any client.
public struct ResponseHead: Sendable {
    /// The status, 100 to 599.
    public let status: Int

    private let field: @Sendable (String) -> String?

    /// Creates the head of a response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - field: Returns the first value of a header field. It ignores the case of the name.
    public init(status: Int, field: @escaping @Sendable (_ name: String) -> String?) {
        self.status = status
        self.field = field
    }

    /// Returns the first value of a header field, or nil if the response does not have the field.
    public subscript(name: String) -> String? { field(name) }
}

/// A check that ends an attempt if it cannot succeed, or if a new attempt would be faster:
///
/// - Nothing was sent, and there is no path or a different one.
/// - The request was sent from an address that was removed from this machine, so that no response can arrive.
/// - The path was interrupted for long while the response was read, and the rest can be requested.
///
/// Most attempts are connected within milliseconds. The host is watched only for an attempt that takes longer.
struct ConnectingAttempt: Sendable {
    /// The time without a connection after which the host is watched.
    private static let patience = Duration.milliseconds(250)

    let progress: AttemptProgress
    let entry: HostRegistration
    /// The maximum time until something is sent; nil for the limits of the client.
    let limit: Duration?
    let began: Duration
    /// A Boolean value that indicates whether the attempt is a probe. A probe does not end because the path is missing,
    /// but when the path returns.
    let isProbe: Bool
    /// A Boolean value that indicates whether the request may be repeated. If not, the attempt is not ended after the
    /// request was sent.
    let isRepeatable: Bool

    /// The next step.
    enum Step {
        case end(any RetryableError)
        /// Check again at this time, or when the path changes. If nil, only when the path changes.
        case sleep(until: Duration?)
    }

    /// Returns the next step.
    ///
    /// - Parameters:
    ///   - host: The host of the request.
    ///   - coordinator: The coordinator that watches the path.
    ///   - now: The current time on the clock of the run.
    ///   - listen: Subscribes to changes of the path. Called before each query.
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
        let reachability = coordinator.reachability(of: host)
        let isNew = progress.hasNewPath(by: reachability)
        if progress.hasSent {
            if progress.isInterrupted(by: reachability, now: now) { return .end(AttemptError.pathInterrupted) }
            guard let source = progress.source, source != reachability.source, !coordinator.source.isLocal(source)
            else {
                return .sleep(until: nil)
            }
            return .end(AttemptError.sourceAddressLost(source))
        }
        // An attempt that began without a path may hang long after there is one.
        let cannotSucceed = isProbe ? reachability.status == .reachable : (!isOpen && reachability.isOffline) || isNew
        if cannotSucceed, !progress.hasSent { return .end(AttemptError.noPath(reachability)) }
        guard let limit else { return .sleep(until: nil) }
        return now >= began + limit ? .end(AttemptError.notConnected(limit)) : .sleep(until: began + limit)
    }
}
