/// All that the retries of one host share. A value, only ever touched under the coordinator's lock.
struct HostLane {
    var queue: ReleaseQueue<WakeSignal>
    var bucket: TokenBucket
    /// How many requests have failed once and are not at their end.
    var users = 0
    /// Nil while nobody has failed, and for a moment after.
    var watch: (any VerdictWatch)?
    private(set) var verdict = RetryVerdict.unknown
    /// The generation of a "not reachable" that an answer of the server has disproved.
    private var disproved: UInt64?
    /// Attempts that have sent nothing yet.
    var connecting: [UInt64: WakeSignal] = [:]

    init(_ limits: RetryLimits) {
        queue = ReleaseQueue(interval: .seconds(1) / limits.rate, probeInterval: limits.probeInterval)
        bucket = TokenBucket(limits.budget)
    }

    /// Takes what the monitor says, unless something newer is known. Returns whose signals are to be sent.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - opening: When the first may go if the network has returned.
    mutating func hear(_ news: RetryVerdict, now: Duration, opening: Duration) -> [WakeSignal] {
        guard news.generation >= verdict.generation else { return [] }
        let known = verdict
        verdict = news
        let signals = news == known ? [] : Array(connecting.values)
        if news.isOffline, news.generation != disproved {
            return signals + [queue.close(at: now)].compactMap(\.self)
        }
        let isNewPath = news.status == .reachable && known.generation > 0 && news.generation > known.generation
        guard isNewPath || !queue.isOpen, let first = queue.open(at: opening) else { return signals }
        return signals + [first]
    }

    /// Takes what an attempt shows: a server that answers is reachable, whatever the monitor says of this path, until an attempt fails in
    /// the network.
    ///
    /// - Parameters:
    ///   - isAnswer: Whether the server has answered; else the attempt has failed in the network.
    ///   - generation: That of the path when the attempt began; nil if nobody watched then.
    ///   - now: The time.
    ///   - opening: When the first may go.
    /// - Returns: Whose signal is to be sent, and what an answer has disproved.
    mutating func learn(
        fromAnswer isAnswer: Bool,
        begunAt generation: UInt64?,
        now: Duration,
        opening: Duration
    ) -> (wake: WakeSignal?, disproved: RetryVerdict?) {
        guard watch != nil, verdict.isOffline else { return (nil, nil) }
        if !isAnswer {
            disproved = nil
            return (queue.close(at: now), nil)
        }
        // An answer that came by an earlier path says nothing of this one.
        guard (generation ?? verdict.generation) == verdict.generation else { return (nil, nil) }
        let isNews = disproved != verdict.generation
        disproved = verdict.generation
        return (queue.isOpen ? nil : queue.open(at: opening), isNews ? verdict : nil)
    }

    /// Ends to follow the host when nobody is left. Returns what is to be let go of outside the lock.
    mutating func leave() -> (any VerdictWatch)? {
        users -= 1
        guard users == 0 else { return nil }
        defer {
            watch = nil
            // What the next watch tells begins anew.
            verdict = .unknown
            disproved = nil
            _ = queue.open(at: .zero)
        }
        return watch
    }

    /// Whether forgetting it would change nothing.
    func isIdle(at now: Duration) -> Bool {
        users == 0 && bucket.isFull && queue.nextTurn <= now
    }
}
