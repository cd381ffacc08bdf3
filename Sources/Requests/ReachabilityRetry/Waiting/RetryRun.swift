/// One call of `withRetry`. An object, so that what waits in many functions at once has it once.
final class RetryRun<Value: Sendable> {
    let policy: ReachabilityRetryPolicy
    let target: RetryTarget
    let coordinator: RetryCoordinator
    /// Begins with the call.
    let clock: Timeline
    /// Told of each wait as it begins.
    let waiting: (@Sendable (RetryAttempt, Duration?) -> Void)?
    /// Told of each wait before it begins, and awaited.
    let willWait: (@Sendable () async -> Void)?
    let operation: @Sendable (Int) async throws -> Value
    /// What the client tells of its attempts; nil where it tells nothing: then the first attempt does not wait for a path, and none
    /// is cut for the want of one.
    let progress: AttemptProgress?
    /// How long an attempt may take to connect.
    let connectTimeout: Duration?
    let entry: LaneEntry

    private(set) var attempts: [RetryAttempt] = []
    private var counts = Counts()
    /// What the latest attempt brought, and when it began.
    var result: Result<Value, any Error>?
    private var began = Duration.zero
    /// The path that was known then.
    private var generation: UInt64?
    private var waitBegan = Duration.zero
    private var advised = RetryAdvice.goOn

    init(
        policy: ReachabilityRetryPolicy,
        target: RetryTarget,
        coordinator: RetryCoordinator,
        clock: Timeline,
        waiting: (@Sendable (RetryAttempt, Duration?) -> Void)?,
        willWait: (@Sendable () async -> Void)?,
        progress: AttemptProgress?,
        connectTimeout: Duration?,
        operation: @escaping @Sendable (Int) async throws -> Value
    ) {
        self.policy = policy
        self.target = target
        self.coordinator = coordinator
        self.clock = clock
        self.waiting = waiting
        self.willWait = willWait
        self.progress = progress
        self.connectTimeout = connectTimeout
        self.operation = operation
        entry = LaneEntry(target.host, at: coordinator)
    }

    /// A run that begins now. A function, so that copies for it are made on its stack and not on that of the task.
    @inline(never)
    static func make(
        policy: ReachabilityRetryPolicy,
        target: RetryTarget,
        coordinator: RetryCoordinator,
        clock: some Clock<Duration>,
        waiting: (@Sendable (RetryAttempt, Duration?) -> Void)? = nil,
        willWait: (@Sendable () async -> Void)? = nil,
        progress: AttemptProgress? = nil,
        connectTimeout: Duration? = nil,
        operation: @escaping @Sendable (Int) async throws -> Value
    ) -> RetryRun {
        RetryRun(
            policy: policy,
            target: target,
            coordinator: coordinator,
            clock: Timeline(clock),
            waiting: waiting,
            willWait: willWait,
            progress: progress,
            connectTimeout: connectTimeout,
            operation: operation
        )
    }

    /// On `clock`.
    var deadline: Duration? { policy.deadline }

    /// What came of it, once it has ended.
    @inline(never)
    func outcome(after ending: RetryError.Ending?) throws(RetryError) -> RetryOutcome<Value> {
        guard ending == nil, case .success(let value)? = result else {
            throw RetryError(ending: ending ?? .cancelled, target: target, attempts: attempts)
        }
        return RetryOutcome(value: value, attempts: attempts)
    }

    /// Tries until it succeeds or has to end. Returns why no further attempt is made; nil after a success.
    ///
    /// Of those that wait there may be very many, and the stack of a task grows by a thousand bytes at once. So what is needed later
    /// is kept in this object, and what waits does little else.
    func end() async -> RetryError.Ending? {
        guard coordinator.begin() else { return .shutDown }
        defer { coordinator.end() }
        defer {
            if counts.hasUnusedPayment { coordinator.refund(to: target.host) }
            entry.leave()
        }
        while !Task.isCancelled {
            began = clock.now
            // The turn may have come at the last moment.
            if let deadline, began >= deadline { return .deadlineExpired }
            generation = coordinator.knownVerdict(of: target.host)?.generation
            counts.hasUnusedPayment = false
            let cut = hasPath() ? await attempt(attempts.count + 1) : nil
            switch step(after: cut) {
            case .succeed: return nil
            case .end(let ending): return ending
            case .wait(let pause):
                waitBegan = clock.now
                if let willWait { await willWait() }
                if let ending = await heedAdvice() {
                    attempts[attempts.count - 1].wait = clock.now - waitBegan
                    return ending
                }
                let end = await getInLine(after: pause).end()
                attempts[attempts.count - 1].wait = clock.now - waitBegan
                if case .ended(let ending) = end { return ending }
            }
        }
        return .cancelled
    }

    /// Asks the kernel before the first attempt of a client that tells of its attempts. Those that follow have waited in line, and were
    /// asked about there.
    ///
    /// - Returns: Whether to make the attempt; if not, its result is there.
    @inline(never)
    private func hasPath() -> Bool {
        guard progress != nil, attempts.isEmpty, coordinator.askOnce(target.host).status == .notReachable else {
            return true
        }
        // From now on it is followed, which may know better: the name may be that of a host nearby.
        entry.enter()
        if coordinator.isOpen(target.host) { return true }
        result = .failure(UnsentAttempt.noPath(coordinator.ask(target.host)))
        return false
    }

    /// What follows the attempt that has just ended.
    @inline(never)
    private func step(after cut: RetryError.Ending?) -> Step {
        guard case .failure(let failure)? = result else {
            coordinator.deposit(forSuccessAt: target.host, afterPaying: counts.hasPaid)
            attempts.append(RetryAttempt(attempts.count + 1, began, clock.now))
            return .succeed
        }
        entry.enter()
        let verdict = coordinator.ask(target.host)
        // That it was cancelled says nothing of the request.
        let stage = failure is CancellationError ? nil : classify(failure, verdict)
        attempts.append(RetryAttempt(attempts.count + 1, began, clock.now, failure, stage, verdict))
        if Task.isCancelled { return .end(.cancelled) }
        if let cut { return .end(cut) }
        if stage?.wasSent == true { counts.sent += 1 }
        var before = generation ?? progress?.generation
        if case .noPath(let verdict) = failure as? UnsentAttempt {
            counts.unmade += 1
            before = before ?? verdict.generation
        } else if let stage {
            if stage.isOfNetwork, verdict.lacksAddress { counts.unresolved += 1 }
            coordinator.learn(from: stage, begunAt: generation, of: target.host)
        }
        let situation = RetryDecision.Situation(
            stage: stage,
            verdict: verdict,
            generationAtBegin: before,
            attempts: attempts.count - counts.unmade,
            sent: counts.sent,
            unresolved: counts.unresolved,
            backoffs: counts.backoffs,
            timeLeft: deadline.map { $0 - clock.now }
        )
        return follow(RetryDecision(after: situation, of: target, by: policy, chance: coordinator.chance))
    }

    /// What was found out here needs no classifier.
    private func classify(_ failure: any Error, _ verdict: RetryVerdict) -> FailureStage? {
        (failure as? UnsentAttempt)?.failureStage ?? policy.classify(failure, verdict)
    }

    /// Pays for what was decided, and tells of it.
    private func follow(_ decision: RetryDecision) -> Step {
        switch decision {
        case .end(let ending):
            return .end(ending)
        case .retry(let reason, let pause, let isFree):
            if !isFree {
                guard coordinator.withdraw(from: target.host) else { return .end(.budgetExhausted) }
                counts.hasPaid = true
                counts.hasUnusedPayment = true
            }
            if reason == .backoff { counts.backoffs += 1 }
            attempts[attempts.count - 1].reason = reason
            waiting?(attempts[attempts.count - 1], reason == .unreachable ? nil : pause ?? .zero)
            return .wait(pause)
        }
    }

    /// Does what the advisor says, as far as that is to wait or to end; who has none is through at once.
    @inline(never)
    private func heedAdvice() async -> RetryError.Ending? {
        advised = .goOn
        switch await advice() {
        case .failure(let refusal): return refusal.ending
        case .success(let advice): advised = advice
        }
        switch advised {
        case .goOn, .backOff: return nil
        case .end: return .notRetryable
        case .wait:
            attempts[attempts.count - 1].reason = .obstacle
            if counts.hasUnusedPayment { coordinator.refund(to: target.host) }
            (counts.hasPaid, counts.hasUnusedPayment) = (false, false)
            waiting?(attempts[attempts.count - 1], nil)
            return await waitForEndOfObstacle()
        }
    }

    /// How long it is still to be waited, after what the advisor took.
    private func pause(_ pause: Duration?) -> Duration? {
        var pause = pause
        switch advised {
        case .wait: return nil
        case .backOff where attempts.last?.reason == .newPath:
            counts.backoffs += 1
            attempts[attempts.count - 1].reason = .backoff
            pause = policy.backoff.wait(beforeRetry: counts.backoffs, chance: coordinator.chance())
        default: break
        }
        return pause.map { max(.zero, $0 - (clock.now - waitBegan)) }
    }

    @inline(never)
    private func getInLine(after told: Duration?) -> WaitInLine {
        let pause = pause(told)
        let endsWithNewPath = attempts.last?.reason == .backoff && advised != .backOff
        let wait = pause.map { (duration: $0, endsWithNewPath: endsWithNewPath) }
        return WaitInLine(wait, for: target, until: deadline, on: clock, at: coordinator)
    }

    /// What follows an attempt.
    private enum Step {
        case succeed
        case end(RetryError.Ending)
        /// Nil for no pause before getting in line.
        case wait(Duration?)
    }
}

/// What a run counts.
private struct Counts {
    /// Attempts that were sent.
    var sent = 0
    /// Attempts that failed while the name was not resolved.
    var unresolved = 0
    /// Attempts that were not made, or cut before they had sent anything, because there was no path.
    var unmade = 0
    /// Waits of the backoff.
    var backoffs = 0
    /// Whether the budget was charged with a retry, and whether with one that is still waited for.
    var hasPaid = false
    var hasUnusedPayment = false
}

extension RetryAttempt {
    init(
        _ number: Int,
        _ began: Duration,
        _ ended: Duration,
        _ error: (any Error)? = nil,
        _ stage: FailureStage? = nil,
        _ verdict: RetryVerdict? = nil
    ) {
        self.number = number
        self.began = began
        self.ended = ended
        self.error = error
        self.stage = stage
        self.verdict = verdict
    }
}
