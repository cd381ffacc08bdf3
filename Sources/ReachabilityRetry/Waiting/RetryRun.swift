/// One call of `withRetry`.
struct RetryRun<Value: Sendable>: Sendable {
    let policy: ReachabilityRetryPolicy
    let target: RetryTarget
    let coordinator: RetryCoordinator
    /// Begins with the call.
    let clock: Timeline
    /// Called when a retry is decided on, before it is waited for.
    var willRetry: @Sendable () async -> Void = {}
    let operation: @Sendable (Int) async throws -> Value

    /// On `clock`.
    var deadline: Duration? { policy.deadline }

    /// Tries until it succeeds or has to end.
    func run() async throws(RetryError) -> RetryOutcome<Value> {
        var attempts: [RetryAttempt] = []
        guard coordinator.begin() else { throw error(.shutDown, attempts) }
        defer { coordinator.end() }
        var hasEntered = false
        defer { if hasEntered { coordinator.leave(target.host) } }
        var counts = Counts()
        while true {
            if Task.isCancelled { throw error(.cancelled, attempts) }
            let generation = coordinator.knownVerdict(of: target.host)?.generation
            let began = clock.now
            let end = await attempt(attempts.count + 1)
            if case .success(let value) = end.result {
                coordinator.deposit(for: target.host, paid: counts.paid)
                attempts.append(RetryAttempt(attempts.count + 1, began, clock.now))
                return RetryOutcome(value: value, attempts: attempts)
            }
            guard case .failure(let failure) = end.result else { continue }
            if !hasEntered {
                coordinator.enter(target.host)
                hasEntered = true
            }
            let verdict = coordinator.ask(target.host)
            // That it was cancelled says nothing of the request.
            let stage = failure is CancellationError ? nil : policy.classify(failure, verdict)
            attempts.append(RetryAttempt(attempts.count + 1, began, clock.now, failure, stage, verdict))
            if Task.isCancelled { throw error(.cancelled, attempts) }
            if let cut = end.cut { throw error(cut, attempts) }
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
            try await follow(
                RetryDecision(after: situation, of: target, by: policy, chance: coordinator.chance),
                &counts,
                &attempts
            )
        }
    }

    /// Waits as decided, or ends.
    private func follow(
        _ decision: RetryDecision,
        _ counts: inout Counts,
        _ attempts: inout [RetryAttempt]
    ) async throws(RetryError) {
        switch decision {
        case .end(let ending):
            throw error(ending, attempts)
        case .retry(let reason, let pause, let isFree):
            if !isFree {
                guard coordinator.withdraw(from: target.host) else { throw error(.budgetExhausted, attempts) }
                counts.paid += 1
            }
            if reason == .backoff { counts.backoffs += 1 }
            let began = clock.now
            await willRetry()
            let wait = pause.map { (duration: $0, endsWithNewPath: reason == .backoff) }
            let end = await coordinator.wait(wait, for: target, until: deadline, on: clock)
            attempts[attempts.count - 1].wait = clock.now - began
            attempts[attempts.count - 1].reason = reason
            if case .ended(let ending) = end { throw error(ending, attempts) }
        }
    }

    private func error(_ ending: RetryError.Ending, _ attempts: [RetryAttempt]) -> RetryError {
        RetryError(ending: ending, target: target, attempts: attempts)
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
