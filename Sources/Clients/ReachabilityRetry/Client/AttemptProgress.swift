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
