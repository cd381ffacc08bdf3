import LinuxSupport

/// One piece of work at one host, from its first attempt to its end: the only place where anything is retried. An object, so that
/// what waits in many functions at once has it once.
final class RetryRun<Value: Sendable> {
    let work: RetryWork<Value>
    let target: RetryTarget
    let coordinator: RetryCoordinator
    /// Begins with the call that the run is a part of.
    let clock: Timeline
    let entry: LaneEntry
    /// How many attempts were made before, at hosts that have answered with a redirect.
    private let attemptsBefore: Int

    private(set) var attempts: [RetryAttempt] = []
    private var counts = Counts()
    /// What the latest attempt brought, and when it began.
    var result: AttemptResult<Value>?
    private var began = Duration.zero
    /// The path that was known then.
    private var generation: UInt64?
    private var waitBegan = Duration.zero
    private var advised = RetryAdvice.goOn
    /// Whether the attempt under way, or the next, is to show whether the monitor is right.
    var isProbe = false

    /// A function, so that copies for it are made on its stack and not on that of the task.
    @inline(never)
    static func make(
        _ work: RetryWork<Value>,
        at target: RetryTarget,
        _ coordinator: RetryCoordinator,
        on clock: Timeline,
        after attempts: Int = 0
    ) -> RetryRun {
        RetryRun(work, target, coordinator, clock, attempts)
    }

    private init(
        _ work: RetryWork<Value>,
        _ target: RetryTarget,
        _ coordinator: RetryCoordinator,
        _ clock: Timeline,
        _ attempts: Int
    ) {
        self.work = work
        self.target = target
        self.coordinator = coordinator
        self.clock = clock
        attemptsBefore = attempts
        entry = LaneEntry(target.host, at: coordinator)
    }

    var policy: RetryPolicy { work.policy }

    /// On `clock`.
    var deadline: Duration? { work.policy.deadline }

    /// Tries until it succeeds or has to end. Returns why no further attempt is made; nil after a success.
    ///
    /// Of those that wait there may be very many, and the stack of a task grows by a thousand bytes at once. So what is needed later
    /// is kept in this object, and what waits does little else.
    func end() async -> RetryError.Ending? {
        guard coordinator.begin() else { return finish(.shutDown) }
        defer { coordinator.end() }
        while !Task.isCancelled {
            began = clock.now
            // The turn may have come at the last moment.
            if let deadline, began >= deadline { return finish(.deadlineExpired) }
            generation = coordinator.knownVerdict(of: target.host)?.generation
            counts.hasUnusedPayment = false
            var cut: RetryError.Ending?
            if mayBegin() {
                coordinator.countAttempt()
                cut = await attempt()
            }
            var step = judge(after: cut)
            while true {
                if case .ask(let ending) = step { step = await askRetrier(or: ending) }
                guard case .wait(let pause) = step else { return finish(step.ending) }
                waitBegan = clock.now
                if case .held(let answer, let error)? = result {
                    // Nobody can read it any more, whatever comes of the wait.
                    result = .failed(error)
                    await work.letGo(answer)
                }
                if let ending = await heedAdvice() { return finish(ending) }
                let end = await getInLine(after: pause).end()
                attempts[attempts.count - 1].wait = clock.now - waitBegan
                if case .turn(let isProbe) = end {
                    self.isProbe = isProbe
                    break
                }
                step = stepAfterWait(end)
            }
        }
        return finish(.cancelled)
    }

    /// What follows a wait that brought no turn: the retrier is asked where only the wait for a path took too long.
    private func stepAfterWait(_ end: WaitEnd) -> Step {
        guard case .ended(let ending) = end else { return .succeed }
        let isPathMissing = ending == .deadlineExpired && attempts.last?.reason == .unreachable
        let isInTime = deadline.map { clock.now < $0 } ?? true
        return isPathMissing && isInTime && work.ask != nil ? .ask(ending) : .end(ending)
    }

    private func finish(_ ending: RetryError.Ending?) -> RetryError.Ending? {
        if attempts.last?.reason != nil { attempts[attempts.count - 1].wait = clock.now - waitBegan }
        if counts.hasUnusedPayment { coordinator.refund(to: target.host) }
        entry.leave()
        work.tell(.ended(target, ending, attempts: attempts.count), coordinator)
        return ending
    }

    /// What the attempt that begins now is told.
    var nextContext: AttemptContext {
        AttemptContext(number: attemptsBefore + attempts.count + 1, previous: attempts.last, isProbe: isProbe)
    }

    /// Whether the first attempt may be made now, where the client, or the policy, has it wait: not where there is no path, and not where
    /// the server has asked to be left alone. Those that follow have waited in line, and were asked about there.
    ///
    /// - Returns: Whether to make the attempt; if not, its result is there.
    @inline(never)
    private func mayBegin() -> Bool {
        guard work.waitsFirst, attempts.isEmpty else { return true }
        let hold = coordinator.hold(of: target.host)
        if hold > .zero, deadline.map({ hold < $0 - began }) ?? true {
            result = .failed(AttemptError.heldBack(hold))
            return false
        }
        guard coordinator.askOnce(target.host).status == .notReachable else { return true }
        // From now on it is followed, which may know better: the name may be that of a host nearby.
        entry.enter()
        if coordinator.isOpen(target.host) { return true }
        result = .failed(AttemptError.noPath(coordinator.ask(target.host)))
        return false
    }

    /// What follows the attempt that has just ended.
    @inline(never)
    private func judge(after cut: RetryError.Ending?) -> Step {
        let number = attemptsBefore + attempts.count + 1
        let failure: any Error
        switch result {
        case .kept(_, let isGood)?:
            coordinator.answered(at: target, begunAt: generation, isGood: isGood, afterPaying: counts.hasPaid)
            attempts.append(RetryAttempt(number, began, clock.now))
            return .succeed
        case .held(_, let error)?, .failed(let error)?: failure = error
        case nil: failure = CancellationError()
        }
        entry.enter()
        let verdict = coordinator.ask(target.host)
        // That it was cancelled says nothing of the request.
        let stage = failure is CancellationError ? nil : classify(failure, verdict)
        attempts.append(RetryAttempt(number, began, clock.now, failure, stage, verdict))
        if Task.isCancelled { return .end(.cancelled) }
        if let cut { return .end(cut) }
        if stage?.wasSent == true { counts.sent += 1 }
        var before = generation ?? work.progress?.generation
        switch failure as? AttemptError {
        case .noPath(let verdict):
            counts.unmade += 1
            before = before ?? verdict.generation
        case .heldBack(let hold):
            counts.unmade += 1
            return follow(.retry(.retryAfter, pause: hold, isFree: true))
        default:
            guard let stage else { break }
            count(failure, stage, verdict)
            coordinator.learn(from: stage, begunAt: generation, at: target)
        }
        let situation = RetryDecision.Situation(
            stage: stage,
            verdict: verdict,
            generationAtBegin: before,
            attempts: made,
            sent: counts.sent,
            unresolved: counts.unresolved,
            refused: counts.refused,
            backoffs: counts.backoffs,
            timeLeft: deadline.map { $0 - clock.now }
        )
        return follow(RetryDecision(after: situation, of: target, by: policy, chance: coordinator.chance))
    }

    /// Counts what the policy limits. While the machine is offline neither a name nor a refusal says anything of the host.
    private func count(_ failure: any Error, _ stage: FailureStage, _ verdict: RetryVerdict) {
        guard stage.isOfNetwork, !verdict.isOffline else { return }
        let cause = (failure as? any RetryableError)?.connectionFailure
        if verdict.lacksAddress || cause == .nameNotResolved { counts.unresolved += 1 }
        if cause == .refused { counts.refused += 1 }
    }

    /// How many attempts were made.
    private var made: Int { attempts.count - counts.unmade }

    /// What was found out here needs no classifier.
    private func classify(_ failure: any Error, _ verdict: RetryVerdict) -> FailureStage? {
        if let failure = failure as? AttemptError, failure.isCut { return failure.failureStage }
        return policy.classify(failure, verdict)
    }

    /// Asks the caller's retrier about a failure that the policy does not retry, or no more. The retrier is asked only if the request was
    /// not sent, if the server has answered, or if a repetition does no harm.
    @inline(never)
    private func askRetrier(or ending: RetryError.Ending) async -> Step {
        guard let ask = work.ask, let last = attempts.last, let error = last.error,
            target.isRepeatable || last.stage == .neverSent || last.stage?.isOfNetwork == false
                || last.stage == nil && work.progress?.hasSent == false
        else { return .end(ending) }
        // The budget protects a server that fails. A server that refuses a request does not fail.
        let (count, isFree) = (max(0, made - 1), last.stage?.isRefusal == true)
        let answer = await asking { await ask(count, last.stage, error) }
        if Task.isCancelled { return .end(.cancelled) }
        switch answer {
        case .failure(let refusal): return .end(refusal.ending)
        case .success(.retry): return follow(.retry(.retrier, pause: nil, isFree: isFree))
        case .success(.retryWithDelay(let delay)): return follow(.retry(.retrier, pause: delay, isFree: isFree))
        case .success(.doNotRetry): return .end(ending)
        case .success(.doNotRetryWithError(let other)):
            if case .held(let answer, _)? = result { await work.letGo(answer) }
            result = .failed(other)
            attempts[attempts.count - 1].error = other
            return .end(ending)
        }
    }

    /// Pays for what was decided, and tells of it.
    private func follow(_ decision: RetryDecision) -> Step {
        switch decision {
        case .end(let ending):
            return work.ask != nil && ending.mayBeAskedAbout ? .ask(ending) : .end(ending)
        case .retry(let reason, let pause, let isFree):
            if !isFree, work.isCharged {
                guard coordinator.withdraw(from: target.host) else { return .end(.budgetExhausted) }
                counts.hasPaid = true
                counts.hasUnusedPayment = true
            }
            if reason == .backoff { counts.backoffs += 1 }
            if reason == .retryAfter, let pause { coordinator.holdBack(target.host, for: pause) }
            attempts[attempts.count - 1].reason = reason
            tellOfWait(reason == .unreachable ? nil : pause ?? .zero)
            return .wait(pause)
        }
    }

    private func tellOfWait(_ pause: Duration?) {
        work.tell(.waiting(target, attempts[attempts.count - 1], pause: pause), coordinator)
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
            tellOfWait(nil)
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
        return WaitInLine(wait, for: target, until: endOfWait(after: pause), on: clock, at: coordinator)
    }

    /// When a wait that begins now ends, if there is no path then: at the deadline, or when the policy's time for that is used up.
    private func endOfWait(after pause: Duration?) -> Duration? {
        guard let limit = policy.pathTimeout else { return deadline }
        let waited = attempts.reduce(Duration.zero) { $1.reason == .unreachable ? $0 + $1.wait : $0 }
        let end = clock.now + (pause ?? .zero) + max(.zero, limit - waited)
        return deadline.map { min($0, end) } ?? end
    }

    /// What follows an attempt.
    private enum Step {
        case succeed
        case end(RetryError.Ending)
        /// The retrier is asked before that.
        case ask(RetryError.Ending)
        /// Nil for no pause before getting in line.
        case wait(Duration?)

        /// Why no further attempt is made; nil after a success.
        var ending: RetryError.Ending? {
            switch self {
            case .succeed, .wait: nil
            case .end(let ending), .ask(let ending): ending
            }
        }
    }
}

/// What a run counts.
private struct Counts {
    /// Attempts that were sent.
    var sent = 0
    /// Attempts that failed while the name was not resolved.
    var unresolved = 0
    /// Attempts that the host refused.
    var refused = 0
    /// Attempts that were not made, or cut before they had sent anything, because there was no path.
    var unmade = 0
    /// Waits of the backoff.
    var backoffs = 0
    /// Whether the budget was charged with a retry, and whether with one that is still waited for.
    var hasPaid = false
    var hasUnusedPayment = false
}

extension RetryError.Ending {
    /// Whether the caller's retrier decides before it is final.
    fileprivate var mayBeAskedAbout: Bool {
        self == .notRetryable || self == .unsafeToRepeat || self == .attemptsExhausted
    }
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
