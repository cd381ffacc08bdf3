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

    private var attempts: [RetryAttempt] = []
    private var counts = Counts()
    /// Whether the coordinator watches the host for it.
    private var hasEntered = false
    private var waitBegan = Duration.zero

    init(
        policy: ReachabilityRetryPolicy,
        target: RetryTarget,
        coordinator: RetryCoordinator,
        clock: Timeline,
        waiting: (@Sendable (RetryAttempt, Duration?) -> Void)? = nil,
        willWait: (@Sendable () async -> Void)? = nil,
        operation: @escaping @Sendable (Int) async throws -> Value
    ) {
        self.policy = policy
        self.target = target
        self.coordinator = coordinator
        self.clock = clock
        self.waiting = waiting
        self.willWait = willWait
        self.operation = operation
    }

    /// On `clock`.
    var deadline: Duration? { policy.deadline }

    /// Tries until it succeeds or has to end.
    ///
    /// While it waits, this and `coordinator.wait` are all that is on the stack of the task: of them there may be very many.
    func run() async throws(RetryError) -> RetryOutcome<Value> {
        guard coordinator.begin() else { throw error(.shutDown) }
        defer { coordinator.end() }
        defer { if hasEntered { coordinator.leave(target.host) } }
        while true {
            if Task.isCancelled { throw error(.cancelled) }
            switch await tryOnce() {
            case .succeed(let value): return RetryOutcome(value: value, attempts: attempts)
            case .end(let ending): throw error(ending)
            case .wait(let pause):
                if case .ended(let ending) = await wait(pause) { throw error(ending) }
            }
        }
    }

    /// Makes an attempt, and says what follows.
    private func tryOnce() async -> Step {
        let generation = coordinator.knownVerdict(of: target.host)?.generation
        let began = clock.now
        let end = await attempt(attempts.count + 1)
        switch end.result {
        case .success(let value):
            coordinator.deposit(for: target.host, paid: counts.paid)
            attempts.append(RetryAttempt(attempts.count + 1, began, clock.now))
            return .succeed(value)
        case .failure(let failure):
            return step(after: failure, cut: end.cut, began: began, generation)
        }
    }

    private func step(
        after failure: any Error,
        cut: RetryError.Ending?,
        began: Duration,
        _ generation: UInt64?
    ) -> Step {
        if !hasEntered {
            coordinator.enter(target.host)
            hasEntered = true
        }
        let verdict = coordinator.ask(target.host)
        // That it was cancelled says nothing of the request.
        let stage = failure is CancellationError ? nil : policy.classify(failure, verdict)
        attempts.append(RetryAttempt(attempts.count + 1, began, clock.now, failure, stage, verdict))
        if Task.isCancelled { return .end(.cancelled) }
        if let cut { return .end(cut) }
        if stage?.wasSent == true { counts.sent += 1 }
        let situation = RetryDecision.Situation(
            stage: stage,
            verdict: verdict,
            generationAtBegin: generation,
            attempts: attempts.count,
            sent: counts.sent,
            backoffs: counts.backoffs,
            timeLeft: deadline.map { $0 - clock.now }
        )
        return follow(RetryDecision(after: situation, of: target, by: policy, chance: coordinator.chance))
    }

    /// Pays for what was decided, and tells of it.
    private func follow(_ decision: RetryDecision) -> Step {
        switch decision {
        case .end(let ending):
            return .end(ending)
        case .retry(let reason, let pause, let isFree):
            if !isFree {
                guard coordinator.withdraw(from: target.host) else { return .end(.budgetExhausted) }
                counts.paid += 1
            }
            if reason == .backoff { counts.backoffs += 1 }
            attempts[attempts.count - 1].reason = reason
            waiting?(attempts[attempts.count - 1], reason == .unreachable ? nil : pause ?? .zero)
            return .wait(pause)
        }
    }

    /// Waits for the turn.
    private func wait(_ pause: Duration?) async -> WaitEnd {
        waitBegan = clock.now
        if let willWait { await willWait() }
        let endsWithNewPath = attempts.last?.reason == .backoff
        let wait = pause.map { (duration: $0, endsWithNewPath: endsWithNewPath) }
        let end = await coordinator.wait(wait, for: target, until: deadline, on: clock)
        attempts[attempts.count - 1].wait = clock.now - waitBegan
        return end
    }

    private func error(_ ending: RetryError.Ending) -> RetryError {
        RetryError(ending: ending, target: target, attempts: attempts)
    }

    /// What follows an attempt.
    private enum Step {
        case succeed(Value)
        case end(RetryError.Ending)
        /// Nil for no pause before getting in line.
        case wait(Duration?)
    }
}

/// What a run counts.
private struct Counts {
    /// Attempts that were sent.
    var sent = 0
    /// Waits of the backoff.
    var backoffs = 0
    /// Retries the budget was charged with.
    var paid = 0
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
