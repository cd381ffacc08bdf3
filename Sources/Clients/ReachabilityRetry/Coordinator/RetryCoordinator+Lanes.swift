import LinuxSupport

extension RetryCoordinator {
    /// The verdict a host's retries go by; nil while nobody watches it.
    func knownVerdict(of host: String?) -> RetryVerdict? {
        state.withLock { state in
            guard let lane = state.lanes[host], lane.watch != nil else { return nil }
            return lane.verdict
        }
    }

    /// Somebody failed at this host for the first time: it is watched until `leave(_:)`.
    package func enter(_ host: String?) {
        let now = timeline.now
        let isWatched = state.withLock { state in
            if state.lanes[host] == nil, state.lanes.count >= Self.keptHosts { state.forgetUnused(at: now) }
            state.lanes[host, default: HostLane(limits)].users += 1
            return state.lanes[host]?.watch != nil
        }
        if isWatched { return }
        // Made outside the lock: others may do the same, and one of them will be kept.
        let watch = source.watch(host) { [weak self] in self?.hear($0, of: host) }
        let unwanted = state.withLock { state -> (any VerdictWatch)? in
            guard state.lanes[host]?.watch == nil else { return watch }
            state.lanes[host]?.watch = watch
            return nil
        }
        withExtendedLifetime(unwanted) {}
    }

    /// Whoever entered is at its end.
    package func leave(_ host: String?) {
        let now = timeline.now
        let watch = state.withLock { state in
            let watch = state.lanes[host]?.leave()
            if state.lanes[host]?.isIdle(at: now) == true { state.lanes[host] = nil }
            return watch
        }
        withExtendedLifetime(watch) {}
    }

    /// Asks what is so at this moment, for somebody who has entered.
    func ask(_ host: String?) -> RetryVerdict {
        guard let watch = state.withLock({ $0.lanes[host]?.watch }) else { return .unknown }
        let verdict = watch.ask()
        hear(verdict, of: host)
        return verdict
    }

    func hear(_ verdict: RetryVerdict, of host: String?) {
        let now = timeline.now
        let signals = state.withLock { state in
            let opening = now + limits.spread * state.chance()
            return state.lanes[host]?.hear(verdict, now: now, opening: opening) ?? []
        }
        for signal in signals { signal.send() }
    }

    /// An attempt that has sent nothing wants to hear of changes of the path; its host is watched.
    func listen(_ sleeper: UInt64, to host: String?, _ signal: WakeSignal) {
        state.withLock { $0.lanes[host]?.connecting[sleeper] = signal }
    }

    func stopListening(_ sleeper: UInt64, to host: String?) {
        state.withLock { _ = $0.lanes[host]?.connecting.removeValue(forKey: sleeper) }
    }

    /// Asks what is so at this moment, for somebody who has perhaps not entered. Nothing is watched for it.
    func askOnce(_ host: String?) -> RetryVerdict {
        guard state.withLock({ $0.lanes[host]?.watch }) == nil else { return ask(host) }
        return source.ask(host)
    }

    /// What is so, as soon as the name service has answered, for somebody who has entered.
    package func settledVerdict(of host: String?) async -> RetryVerdict {
        let now = ask(host)
        guard now.reason == .resolving else { return now }
        let (verdicts, continuation) = AsyncStream.makeStream(of: RetryVerdict.self)
        let watch = source.watch(host) { continuation.yield($0) }
        defer { withExtendedLifetime(watch) {} }
        for await verdict in verdicts where verdict.reason != .resolving { return verdict }
        return .unknown
    }

    /// Asks what is so at this moment, and tells whether somebody in line whose turn has come may go.
    func isOpen(_ host: String?) -> Bool {
        _ = ask(host)
        return state.withLock { $0.lanes[host]?.queue.isOpen ?? true }
    }

    /// Takes what a failed attempt shows of somebody who has entered, see ``HostLane/learn(fromAnswer:begunAt:now:opening:)``.
    func learn(from stage: FailureStage, begunAt generation: UInt64?, at target: RetryTarget) {
        learn(fromAnswer: !stage.isOfNetwork, begunAt: generation, at: target, depositing: 0)
    }

    /// An attempt was answered, and is not to be retried: that puts tokens back where the answer is a good one, and shows that the host
    /// is reachable.
    func answered(at target: RetryTarget, begunAt generation: UInt64?, isGood: Bool, afterPaying hasPaid: Bool) {
        let tokens = hasPaid ? limits.budget.retryCost : limits.budget.successDeposit
        learn(fromAnswer: true, begunAt: generation, at: target, depositing: isGood ? tokens : 0)
    }

    private func learn(
        fromAnswer isAnswer: Bool,
        begunAt generation: UInt64?,
        at target: RetryTarget,
        depositing tokens: Int
    ) {
        let (host, now) = (target.host, timeline.now)
        let (wake, disproved) = state.withLock { state -> (WakeSignal?, RetryVerdict?) in
            guard let verdict = state.lanes[host]?.verdict else { return (nil, nil) }
            state.lanes[host]?.bucket.deposit(tokens)
            let opening = verdict.isOffline ? now + limits.spread * state.chance() : now
            let news = state.lanes[host]?.learn(
                fromAnswer: isAnswer,
                begunAt: generation,
                now: now,
                opening: opening
            )
            if state.lanes[host]?.isIdle(at: now) == true { state.lanes[host] = nil }
            return news ?? (nil, nil)
        }
        wake?.send()
        if let disproved { tell(.disagreement(target, disproved)) }
    }

    /// The server wants to be left alone for so long, by all.
    package func holdBack(_ host: String?, for pause: Duration) {
        let end = timeline.now + pause
        state.withLock { $0.lanes[host]?.queue.hold(until: end) }
    }

    /// How long the server wants to be left alone.
    func hold(of host: String?) -> Duration {
        let now = timeline.now
        return state.withLock { max(.zero, ($0.lanes[host]?.queue.holdEnd ?? .zero) - now) }
    }

    /// Pays for a retry; false if the budget is used up.
    func withdraw(from host: String?) -> Bool {
        state.withLock { $0.lanes[host]?.bucket.withdraw(limits.budget.retryCost) ?? true }
    }

    /// A retry that was paid for is not made.
    func refund(to host: String?) {
        state.withLock { $0.lanes[host]?.bucket.deposit(limits.budget.retryCost) }
    }
}

extension RetryCoordinator.State {
    fileprivate mutating func forgetUnused(at now: Duration) {
        let unused = lanes.filter { $0.value.users == 0 && $0.value.queue.nextTurn <= now }.keys
        for host in unused { lanes[host] = nil }
    }
}

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

/// That a request is among those that have the coordinator watch its host: from the first time it has to, to its end.
final class LaneEntry: Sendable {
    private let coordinator: RetryCoordinator
    private let host: String?
    private let hasEntered = Locked(false)

    init(_ host: String?, at coordinator: RetryCoordinator) {
        self.coordinator = coordinator
        self.host = host
    }

    /// Has the host watched until `leave()`. Entering twice does nothing. Not for two threads at once.
    func enter() {
        if hasEntered.withLock({ $0 }) { return }
        coordinator.enter(host)
        hasEntered.withLock { $0 = true }
    }

    /// The request is at its end.
    func leave() {
        if hasEntered.withLock({ $0 }) { coordinator.leave(host) }
    }
}
