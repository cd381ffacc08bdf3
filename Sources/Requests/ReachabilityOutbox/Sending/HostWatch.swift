import LinuxPrimitives
import ReachabilityRetry

/// Follows one host's network, from its making until nobody holds it any more.
final class HostWatch: Sendable {
    private struct State {
        /// What is so now; nil until that is known.
        var verdict: RetryVerdict?
        var followers: [UInt64: AsyncStream<RetryVerdict>.Continuation] = [:]
        var lastFollower: UInt64 = 0
    }

    private let state: Locked<State>
    private let watch: any VerdictWatch
    private let clock: any Clock<Duration>

    init(_ host: String, _ verdicts: any VerdictSource, clock: any Clock<Duration>) {
        let state = Locked(State())
        self.state = state
        self.clock = clock
        watch = verdicts.watch(host) { Self.hear($0, state) }
        // Where the host cannot be watched nothing is ever told, and only trying tells.
        let asked = watch.ask()
        if state.withLock({ $0.verdict == nil }) { Self.hear(asked, state) }
    }

    /// What is so of the host, as soon as that is known.
    func verdict() async -> RetryVerdict {
        for await verdict in verdicts() { return verdict }
        return .unknown
    }

    /// Waits until the host can be reached; says whether it is worth trying, which it is not in a task that was cancelled.
    func untilReachable() async -> Bool {
        for await verdict in verdicts() where verdict.status != .notReachable { break }
        return !Task.isCancelled
    }

    /// Waits so long, or until the host was away and is back: then all is new, and waiting longer helps nobody.
    func pause(_ duration: Duration) async {
        let verdicts = verdicts()
        await withTaskGroup(of: Bool.self) { [clock] group in
            group.addTask {
                await clock.pause(duration)
                return true
            }
            group.addTask {
                var wasAway = false
                for await verdict in verdicts {
                    let isAway = verdict.status == .notReachable
                    if wasAway, !isAway { return true }
                    wasAway = isAway
                }
                return false
            }
            for await isOver in group where isOver { break }
            group.cancelAll()
        }
    }

    /// What is so now, as soon as that is known, and each change from now on.
    private func verdicts() -> AsyncStream<RetryVerdict> {
        let (stream, continuation) = AsyncStream.makeStream(of: RetryVerdict.self)
        let number = state.withLock { state in
            if let verdict = state.verdict { continuation.yield(verdict) }
            state.lastFollower += 1
            state.followers[state.lastFollower] = continuation
            return state.lastFollower
        }
        continuation.onTermination = { [state] _ in
            state.withLock { _ = $0.followers.removeValue(forKey: number) }
        }
        return stream
    }

    private static func hear(_ verdict: RetryVerdict, _ state: Locked<State>) {
        guard verdict.reason != .resolving else { return }
        state.withLock { state in
            state.verdict = verdict
            for follower in state.followers.values { follower.yield(verdict) }
        }
    }
}

extension Clock<Duration> {
    /// Waits so long, up to a tenth longer where that saves a wake-up, or until the task is cancelled.
    func pause(_ duration: Duration) async {
        try? await sleep(for: duration, tolerance: duration / 10)
    }
}
