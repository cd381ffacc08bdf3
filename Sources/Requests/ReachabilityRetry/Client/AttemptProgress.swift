import LinuxPrimitives

/// The progress of the attempt under way, as its client reports it. One object serves all attempts of a request.
///
/// A client that cannot report when its request is sent calls ``send()`` when it begins. No attempt is cut then.
package final class AttemptProgress: Sendable {
    private struct State {
        var isSent = false
        var isRedirected = false
        /// How many attempts were ended before they had sent anything.
        var cuts = 0
        /// The path that was first seen to be there during the attempt.
        var path: RetryVerdict?
        /// Since when the path is away, on the run's clock; nil where it is there.
        var awaySince: Duration?
    }

    /// TCP's next try comes after about as long again as the path was away: below this it is not waited for in vain.
    private static let shortLoss = Duration.milliseconds(500)

    private let state = Locked(State())
    private let resumes: @Sendable () -> Bool

    /// - Parameter resumes: Whether the rest of an answer that breaks off can be asked for.
    package init(resumes: @escaping @Sendable () -> Bool = { false }) {
        self.resumes = resumes
    }

    /// Something of the request has left, or may have.
    package var hasSent: Bool { state.withLock { $0.isSent } }

    /// A hop has answered with a redirect: whatever fails from now on, the request has reached a server.
    package var isRedirected: Bool { state.withLock { $0.isRedirected } }

    /// How many attempts were ended before they had sent anything: each may have left a connection behind that is still being made.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Something of the request leaves now.
    package func send() {
        state.withLock { $0.isSent = true }
    }

    /// A hop has answered with a redirect.
    package func redirect() {
        state.withLock { state in
            state.isSent = true
            state.isRedirected = true
        }
    }

    /// Another attempt begins.
    func begin() {
        state.withLock { $0 = State(cuts: $0.cuts) }
    }

    /// The attempt was ended before it had sent anything.
    func cut() {
        state.withLock { $0.cuts += 1 }
    }

    /// The generation of the path when it was first seen during the attempt; nil where nobody has looked yet.
    var generation: UInt64? { state.withLock { $0.path?.generation } }

    /// The address that packets had then; nil where nobody has looked yet, or where it is not told.
    var source: String? { state.withLock { $0.path?.source } }

    /// Takes what the monitor says while an answer is awaited or read. Returns whether the path is back after it was away for long, and
    /// what is missing can be asked for.
    func isInterrupted(by verdict: RetryVerdict, now: Duration) -> Bool {
        let wasAwayForLong = state.withLock { state in
            if verdict.isOffline { state.awaySince = state.awaySince ?? now }
            guard verdict.status == .reachable, let since = state.awaySince else { return false }
            state.awaySince = nil
            return now - since >= Self.shortLoss
        }
        return wasAwayForLong && resumes()
    }

    /// Takes what the monitor says while nothing was sent. Returns whether the path is another than the one first seen.
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
