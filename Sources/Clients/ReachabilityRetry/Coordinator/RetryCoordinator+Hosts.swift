import LinuxSupport

extension RetryCoordinator {
    /// Returns the latest reachability of a host; nil while the host is not watched.
    func knownReachability(of host: String?) -> HostReachability? {
        state.withLock { state in
            guard let known = state.hosts[host], known.watch != nil else { return nil }
            return known.reachability
        }
    }

    /// Adds a user of a host. The host is watched until the last user calls `leave(_:)`. A request becomes a user when
    /// it first fails or has to wait.
    package func enter(_ host: String?) {
        let now = timeline.now
        let isWatched = state.withLock { state in
            if state.hosts[host] == nil, state.hosts.count >= Self.keptHosts { state.forgetUnused(at: now) }
            state.hosts[host, default: HostState(limits)].users += 1
            return state.hosts[host]?.watch != nil
        }
        if isWatched { return }
        // Created outside the lock. If several threads do so at the same time, one watch is kept.
        let watch = source.watch(host) { [weak self] in self?.update($0, of: host) }
        let unwanted = state.withLock { state -> (any ReachabilityWatch)? in
            guard state.hosts[host]?.watch == nil else { return watch }
            state.hosts[host]?.watch = watch
            return nil
        }
        withExtendedLifetime(unwanted) {}
    }

    /// Removes a user of a host.
    package func leave(_ host: String?) {
        let now = timeline.now
        let watch = state.withLock { state in
            let watch = state.hosts[host]?.leave()
            if state.hosts[host]?.isIdle(at: now) == true { state.hosts[host] = nil }
            return watch
        }
        withExtendedLifetime(watch) {}
    }

    /// Returns the current reachability of a host. The caller must be a user of the host; otherwise the reachability is unknown.
    func reachability(of host: String?) -> HostReachability {
        guard let watch = state.withLock({ $0.hosts[host]?.watch }) else { return .unknown }
        let reachability = watch.currentReachability()
        update(reachability, of: host)
        return reachability
    }

    func update(_ reachability: HostReachability, of host: String?) {
        let now = timeline.now
        let signals = state.withLock { state in
            let opening = now + limits.spread * state.chance()
            return state.hosts[host]?.update(reachability, now: now, opening: opening) ?? []
        }
        for signal in signals { signal.send() }
    }

    /// Registers a signal that is sent when the reachability of a watched host changes. Used by attempts that have sent
    /// nothing yet.
    func listen(_ sleeper: UInt64, to host: String?, _ signal: WakeSignal) {
        state.withLock { $0.hosts[host]?.connecting[sleeper] = signal }
    }

    func stopListening(_ sleeper: UInt64, to host: String?) {
        state.withLock { _ = $0.hosts[host]?.connecting.removeValue(forKey: sleeper) }
    }

    /// Returns the current reachability of a host without watching it. The caller need not be a user.
    func reachabilityOnce(of host: String?) -> HostReachability {
        guard state.withLock({ $0.hosts[host]?.watch }) == nil else { return reachability(of: host) }
        return source.reachability(of: host)
    }

    /// Returns the reachability of a host as soon as the name service has responded. The caller must be a user of the host.
    package func settledReachability(of host: String?) async -> HostReachability {
        let now = reachability(of: host)
        guard now.reason == .resolving else { return now }
        let (reachability, continuation) = AsyncStream.makeStream(of: HostReachability.self)
        let watch = source.watch(host) { continuation.yield($0) }
        defer { withExtendedLifetime(watch) {} }
        for await reachability in reachability where reachability.reason != .resolving { return reachability }
        return .unknown
    }

    /// Queries the monitor, and returns whether a released waiter may start.
    func isOpen(_ host: String?) -> Bool {
        _ = reachability(of: host)
        return state.withLock { $0.hosts[host]?.queue.isOpen ?? true }
    }

    /// Records the failure of an attempt. The caller must be a user of the host. See
    /// ``HostState/recordEvidence(fromAnswer:begunAt:now:opening:)``.
    func recordEvidence(from stage: FailureStage, begunAt generation: UInt64?, at target: RetryTarget) {
        recordEvidence(fromAnswer: !stage.isOfNetwork, begunAt: generation, at: target, depositing: 0)
    }

    /// Records a response that is not retried. It shows that the host is reachable, and a good response adds tokens to
    /// the budget.
    func answered(at target: RetryTarget, begunAt generation: UInt64?, isGood: Bool, afterCharge wasCharged: Bool) {
        let tokens = wasCharged ? limits.budget.retryCost : limits.budget.successDeposit
        recordEvidence(fromAnswer: true, begunAt: generation, at: target, depositing: isGood ? tokens : 0)
    }

    private func recordEvidence(
        fromAnswer isAnswer: Bool,
        begunAt generation: UInt64?,
        at target: RetryTarget,
        depositing tokens: Int
    ) {
        let (host, now) = (target.host, timeline.now)
        let (wake, disproved) = state.withLock { state -> (WakeSignal?, HostReachability?) in
            guard let reachability = state.hosts[host]?.reachability else { return (nil, nil) }
            state.hosts[host]?.bucket.deposit(tokens)
            let opening = reachability.isOffline ? now + limits.spread * state.chance() : now
            let news = state.hosts[host]?.recordEvidence(
                fromAnswer: isAnswer,
                begunAt: generation,
                now: now,
                opening: opening
            )
            if state.hosts[host]?.isIdle(at: now) == true { state.hosts[host] = nil }
            return news ?? (nil, nil)
        }
        wake?.send()
        if let disproved { publish(.disagreement(target, disproved)) }
    }

    /// Blocks all requests to a host for a duration, because the server requested it (Retry-After).
    package func holdBack(_ host: String?, for pause: Duration) {
        let end = timeline.now + pause
        state.withLock { $0.hosts[host]?.queue.hold(until: end) }
    }

    /// Returns the remaining time for which the server requested a pause (Retry-After).
    func hold(of host: String?) -> Duration {
        let now = timeline.now
        return state.withLock { max(.zero, ($0.hosts[host]?.queue.holdEnd ?? .zero) - now) }
    }

    /// Charges the budget for a retry. Returns false if the budget is used up.
    func withdraw(from host: String?) -> Bool {
        state.withLock { $0.hosts[host]?.bucket.withdraw(limits.budget.retryCost) ?? true }
    }

    /// Returns the cost of a retry that was charged and is not made.
    func refund(to host: String?) {
        state.withLock { $0.hosts[host]?.bucket.deposit(limits.budget.retryCost) }
    }
}

extension RetryCoordinator.State {
    fileprivate mutating func forgetUnused(at now: Duration) {
        let unused = hosts.filter { $0.value.users == 0 && $0.value.queue.nextTurn <= now }.keys
        for host in unused { hosts[host] = nil }
    }
}

/// The state that all retries to one host share. A value type, accessed only under the coordinator's lock.
struct HostState {
    var queue: ReleaseQueue<WakeSignal>
    var bucket: TokenBucket
    /// The number of requests that have failed or waited at least once and have not ended.
    var users = 0
    /// The subscription to the host's reachability; nil before the first failure, and for a moment after it.
    var watch: (any ReachabilityWatch)?
    private(set) var reachability = HostReachability.unknown
    /// The generation of a state "not reachable" that a response of the server has disproved.
    private var disproved: UInt64?
    /// The signals of attempts that have sent nothing yet.
    var connecting: [UInt64: WakeSignal] = [:]

    init(_ limits: RetryLimits) {
        queue = ReleaseQueue(interval: .seconds(1) / limits.rate, probeInterval: limits.probeInterval)
        bucket = TokenBucket(limits.budget)
    }

    /// Records a state of the monitor, unless a newer one is known. Returns the signals to send.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - opening: The time of the first start if the network has returned.
    mutating func update(_ news: HostReachability, now: Duration, opening: Duration) -> [WakeSignal] {
        guard news.generation >= reachability.generation else { return [] }
        let known = reachability
        reachability = news
        let signals = news == known ? [] : Array(connecting.values)
        if news.isOffline, news.generation != disproved {
            return signals + [queue.close(at: now)].compactMap(\.self)
        }
        let isNewPath = news.status == .reachable && known.generation > 0 && news.generation > known.generation
        guard isNewPath || !queue.isOpen, let first = queue.open(at: opening) else { return signals }
        return signals + [first]
    }

    /// Records the evidence of an attempt. A server that responds is reachable, whatever the monitor reports about this
    /// path, until an attempt fails in the network.
    ///
    /// - Parameters:
    ///   - isAnswer: True if the server has responded. If false, the attempt has failed in the network.
    ///   - generation: The generation of the path when the attempt began; nil if the host was not watched then.
    ///   - now: The current time.
    ///   - opening: The time of the first start.
    /// - Returns: The signal to send, and the reachability that a response has disproved.
    mutating func recordEvidence(
        fromAnswer isAnswer: Bool,
        begunAt generation: UInt64?,
        now: Duration,
        opening: Duration
    ) -> (wake: WakeSignal?, disproved: HostReachability?) {
        guard watch != nil, reachability.isOffline else { return (nil, nil) }
        if !isAnswer {
            disproved = nil
            return (queue.close(at: now), nil)
        }
        // A response over an earlier path reveals nothing about this one.
        guard (generation ?? reachability.generation) == reachability.generation else { return (nil, nil) }
        let isNew = disproved != reachability.generation
        disproved = reachability.generation
        return (queue.isOpen ? nil : queue.open(at: opening), isNew ? reachability : nil)
    }

    /// Removes a user. Stops watching the host if it was the last. Returns the watch, which must be released outside
    /// the lock.
    mutating func leave() -> (any ReachabilityWatch)? {
        users -= 1
        guard users == 0 else { return nil }
        defer {
            watch = nil
            // The generations of the next watch start again.
            reachability = .unknown
            disproved = nil
            _ = queue.open(at: .zero)
        }
        return watch
    }

    /// Returns whether the state equals that of a host without a record, so that it can be removed.
    func isIdle(at now: Duration) -> Bool {
        users == 0 && bucket.isFull && queue.nextTurn <= now
    }
}

/// The registration of a request as a user of a host, from its first failure or wait to its end.
final class HostRegistration: Sendable {
    private let coordinator: RetryCoordinator
    private let host: String?
    private let hasEntered = Locked(false)

    init(_ host: String?, at coordinator: RetryCoordinator) {
        self.coordinator = coordinator
        self.host = host
    }

    /// Registers the request. Further calls have no effect. Not for concurrent calls.
    func enter() {
        if hasEntered.withLock({ $0 }) { return }
        coordinator.enter(host)
        hasEntered.withLock { $0 = true }
    }

    /// Ends the registration.
    func leave() {
        if hasEntered.withLock({ $0 }) { coordinator.leave(host) }
    }
}
