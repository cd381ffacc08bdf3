import LinuxSupport

/// The attempts of one request at one host, and the waits between them. All retries are decided here. A class, so that
/// the nested functions that wait share one copy of the state.
final class RetryRun {
    let work: RetryWork
    let target: RetryTarget
    let coordinator: RetryCoordinator
    /// The clock of the run. It starts with the call that the run belongs to.
    let clock: Timeline
    let entry: HostRegistration
    /// The number of attempts at earlier hops of a redirect.
    private let attemptsBefore: Int

    private(set) var attempts: [RetryAttempt] = []
    private var counts = Counts()
    /// The result of the latest attempt.
    var result: AttemptResult?
    private var began = Duration.zero
    /// The generation of the path that was known when the latest attempt began.
    private var generation: UInt64?
    private var waitBegan = Duration.zero
    private var advised = RetryAdvice.followPolicy
    /// A Boolean value that indicates whether the current or next attempt is a probe: it tests the monitor, which
    /// reports that the host is not reachable.
    var isProbe = false

    /// Creates a run. A function that is not inlined, so that its copies are on its own stack and not on that of the
    /// task.
    @inline(never)
    static func make(
        _ work: RetryWork,
        at target: RetryTarget,
        _ coordinator: RetryCoordinator,
        on clock: Timeline,
        after attempts: Int = 0
    ) -> RetryRun {
        RetryRun(work, target, coordinator, clock, attempts)
    }

    private init(
        _ work: RetryWork,
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
        entry = HostRegistration(target.host, at: coordinator)
    }

    var policy: RetryPolicy { work.policy }

    /// The deadline on `clock`.
    var deadline: Duration? { work.policy.deadline }

    /// Makes attempts until one succeeds or no further attempt is made. Returns the reason for the latter; nil after a
    /// success.
    ///
    /// Very many requests may wait at the same time, and the stack of a task grows in steps of 1000 bytes. State that
    /// is needed after a wait is therefore kept in this object, and the functions that wait keep little else.
    func end() async -> RetryError.Ending? {
        guard coordinator.begin() else { return finish(.shutDown) }
        defer { coordinator.end() }
        while !Task.isCancelled {
            began = clock.now
            // The release may have come at the deadline.
            if let deadline, began >= deadline { return finish(.deadlineExpired) }
            generation = coordinator.knownReachability(of: target.host)?.generation
            counts.hasUnusedCharge = false
            var cut: RetryError.Ending?
            if mayBegin() {
                coordinator.countAttempt()
                cut = await attempt()
            }
            var step = judge(after: cut)
            while true {
                if case .consultRetrier(let ending) = step { step = await consultRetrier(or: ending) }
                guard case .wait(let pause) = step else { return finish(step.ending) }
                waitBegan = clock.now
                if case .held(let error)? = result {
                    // The response is discarded, whatever follows the wait.
                    result = .failed(error)
                    await work.release()
                }
                if let ending = await followAdvice() { return finish(ending) }
                let end = await enqueue(after: pause).end()
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

    /// Returns the step after a wait that ended without a release. The retrier is called only if just the wait for a
    /// path took too long.
    private func stepAfterWait(_ end: WaitEnd) -> Step {
        guard case .ended(let ending) = end else { return .succeed }
        let isPathMissing = ending == .deadlineExpired && attempts.last?.reason == .unreachable
        let isInTime = deadline.map { clock.now < $0 } ?? true
        return isPathMissing && isInTime && work.retrier != nil ? .consultRetrier(ending) : .end(ending)
    }

    private func finish(_ ending: RetryError.Ending?) -> RetryError.Ending? {
        if attempts.last?.reason != nil { attempts[attempts.count - 1].wait = clock.now - waitBegan }
        if counts.hasUnusedCharge { coordinator.refund(to: target.host) }
        entry.leave()
        work.publish(.ended(target, ending, attempts: attempts.count), coordinator)
        return ending
    }

    /// The context of the next attempt.
    var nextContext: AttemptContext {
        AttemptContext(number: attemptsBefore + attempts.count + 1, previous: attempts.last, isProbe: isProbe)
    }

    /// Returns whether the first attempt may be made now. If not, `result` is set. The first attempt waits if the
    /// client or the policy requires it, and the host is not reachable or the server has requested a pause
    /// (Retry-After). Later attempts have waited in the queue, where this was checked.
    @inline(never)
    private func mayBegin() -> Bool {
        guard work.waitsFirst, attempts.isEmpty else { return true }
        let hold = coordinator.hold(of: target.host)
        if hold > .zero, deadline.map({ hold < $0 - began }) ?? true {
            result = .failed(AttemptError.heldBack(hold))
            return false
        }
        guard coordinator.reachabilityOnce(of: target.host).status == .notReachable else { return true }
        // The host is now watched. The watch may know more than the query, for example if the name is that of a
        // neighbour.
        entry.enter()
        if coordinator.isOpen(target.host) { return true }
        result = .failed(AttemptError.noPath(coordinator.reachability(of: target.host)))
        return false
    }

    /// Returns the step after the attempt that has just ended.
    @inline(never)
    private func judge(after cut: RetryError.Ending?) -> Step {
        let number = attemptsBefore + attempts.count + 1
        let failure: any Error
        switch result {
        case .kept(let isGood)?:
            coordinator.answered(at: target, begunAt: generation, isGood: isGood, afterCharge: counts.wasCharged)
            attempts.append(RetryAttempt(number, began, clock.now, sent: work.progress?.sentAt))
            return .succeed
        case .held(let error)?, .failed(let error)?: failure = error
        case nil: failure = CancellationError()
        }
        entry.enter()
        let reachability = coordinator.reachability(of: target.host)
        // A cancellation reveals nothing about the request.
        let stage = failure is CancellationError ? nil : classify(failure, reachability)
        let sent = work.progress?.sentAt
        attempts.append(RetryAttempt(number, began, clock.now, failure, stage, reachability, sent: sent))
        if Task.isCancelled { return .end(.cancelled) }
        if let cut { return .end(cut) }
        if stage?.wasSent == true { counts.sent += 1 }
        var before = generation ?? work.progress?.generation
        switch failure as? AttemptError {
        case .noPath(let reachability):
            counts.unmade += 1
            before = before ?? reachability.generation
        case .heldBack(let hold):
            counts.unmade += 1
            return follow(.retry(.retryAfter, pause: hold, isFree: true))
        default:
            guard let stage else { break }
            count(failure, stage, reachability)
            coordinator.recordEvidence(from: stage, begunAt: generation, at: target)
        }
        let situation = RetryDecision.Situation(
            stage: stage,
            reachability: reachability,
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

    /// Counts the failures that the policy limits. While the machine is offline, neither an unresolved name nor a
    /// refused connection reveals anything about the host.
    private func count(_ failure: any Error, _ stage: FailureStage, _ reachability: HostReachability) {
        guard stage.isOfNetwork, !reachability.isOffline else { return }
        let cause = (failure as? any RetryableError)?.connectionFailure
        if reachability.lacksAddress || cause == .nameNotResolved { counts.unresolved += 1 }
        if cause == .refused { counts.refused += 1 }
    }

    /// The number of attempts that were made.
    private var made: Int { attempts.count - counts.unmade }

    /// Returns the stage of a failure. The errors of this module need no classifier.
    private func classify(_ failure: any Error, _ reachability: HostReachability) -> FailureStage? {
        if let failure = failure as? AttemptError, failure.isCut { return failure.failureStage }
        return policy.classify(failure, reachability)
    }

    /// Calls the caller's retrier about a failure that the policy does not retry, or no longer retries. The retrier is
    /// called only if the request was not sent, if the server has responded, or if the request may be repeated.
    @inline(never)
    private func consultRetrier(or ending: RetryError.Ending) async -> Step {
        guard let retrier = work.retrier, let last = attempts.last, let error = last.error,
            target.isRepeatable || last.stage == .neverSent || last.stage?.isOfNetwork == false
                || last.stage == nil && work.progress?.hasSent == false
        else { return .end(ending) }
        // The budget protects a server that fails. A server that refuses a request does not fail.
        let (count, isFree) = (max(0, made - 1), last.stage?.isRefusal == true)
        let answer = await consulting { await retrier(count, last.stage, error) }
        if Task.isCancelled { return .end(.cancelled) }
        switch answer {
        case .failure(let refusal): return .end(refusal.ending)
        case .success(.retry): return follow(.retry(.retrier, pause: nil, isFree: isFree))
        case .success(.retryWithDelay(let delay)): return follow(.retry(.retrier, pause: delay, isFree: isFree))
        case .success(.doNotRetry): return .end(ending)
        case .success(.doNotRetryWithError(let other)):
            if case .held? = result { await work.release() }
            result = .failed(other)
            attempts[attempts.count - 1].error = other
            return .end(ending)
        }
    }

    /// Charges the budget for a decision, and publishes the event.
    private func follow(_ decision: RetryDecision) -> Step {
        switch decision {
        case .end(let ending):
            return work.retrier != nil && ending.isOfferedToRetrier ? .consultRetrier(ending) : .end(ending)
        case .retry(let reason, let pause, let isFree):
            if !isFree, work.isCharged {
                guard coordinator.withdraw(from: target.host) else { return .end(.budgetExhausted) }
                counts.wasCharged = true
                counts.hasUnusedCharge = true
            }
            if reason == .backoff { counts.backoffs += 1 }
            if reason == .retryAfter, let pause { coordinator.holdBack(target.host, for: pause) }
            attempts[attempts.count - 1].reason = reason
            publishWait(reason == .unreachable ? nil : pause ?? .zero)
            return .wait(pause)
        }
    }

    private func publishWait(_ pause: Duration?) {
        work.publish(.waiting(target, attempts[attempts.count - 1], pause: pause), coordinator)
    }

    /// Queries the advisor, and follows its advice to wait or to end. Returns immediately if the coordinator has no
    /// advisor.
    @inline(never)
    private func followAdvice() async -> RetryError.Ending? {
        advised = .followPolicy
        switch await advice() {
        case .failure(let refusal): return refusal.ending
        case .success(let advice): advised = advice
        }
        switch advised {
        case .followPolicy, .backOff: return nil
        case .end: return .notRetryable
        case .wait:
            attempts[attempts.count - 1].reason = .obstacle
            if counts.hasUnusedCharge { coordinator.refund(to: target.host) }
            (counts.wasCharged, counts.hasUnusedCharge) = (false, false)
            publishWait(nil)
            return await waitForEndOfObstacle()
        }
    }

    /// Returns the remaining pause. The time that the advisor took is subtracted.
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
    private func enqueue(after serverPause: Duration?) -> QueuedWait {
        let pause = pause(serverPause)
        let endsWithNewPath = attempts.last?.reason == .backoff && advised != .backOff
        let wait = pause.map { (duration: $0, endsWithNewPath: endsWithNewPath) }
        return QueuedWait(wait, for: target, until: endOfWait(after: pause), on: clock, at: coordinator)
    }

    /// Returns the time when a wait that begins now ends if there is no path by then: the deadline, or the end of the
    /// policy's `pathTimeout`.
    private func endOfWait(after pause: Duration?) -> Duration? {
        guard let limit = policy.pathTimeout else { return deadline }
        let waited = attempts.reduce(Duration.zero) { $1.reason == .unreachable ? $0 + $1.wait : $0 }
        let end = clock.now + (pause ?? .zero) + max(.zero, limit - waited)
        return deadline.map { min($0, end) } ?? end
    }

    /// The step after an attempt.
    private enum Step {
        case succeed
        case end(RetryError.Ending)
        /// Call the retrier first.
        case consultRetrier(RetryError.Ending)
        /// Wait in the queue after this pause; nil for no pause.
        case wait(Duration?)

        /// The reason why no further attempt is made; nil after a success.
        var ending: RetryError.Ending? {
            switch self {
            case .succeed, .wait: nil
            case .end(let ending), .consultRetrier(let ending): ending
            }
        }
    }
}

/// The counters of a run.
private struct Counts {
    /// The number of attempts that were sent.
    var sent = 0
    /// The number of attempts that failed because the name was not resolved.
    var unresolved = 0
    /// The number of attempts whose connection the host refused.
    var refused = 0
    /// The number of attempts that were not made, or ended before anything was sent, because there was no path.
    var unmade = 0
    /// The number of backoff waits.
    var backoffs = 0
    /// A Boolean value that indicates whether the budget was charged for a retry (`wasCharged`), and for one that has not
    /// started yet (`hasUnusedCharge`).
    var wasCharged = false
    var hasUnusedCharge = false
}

extension RetryError.Ending {
    /// A Boolean value that indicates whether the caller's retrier decides before the request ends in this way.
    fileprivate var isOfferedToRetrier: Bool {
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
        _ reachability: HostReachability? = nil,
        sent: Duration? = nil
    ) {
        self.number = number
        self.began = began
        self.sent = sent
        self.ended = ended
        self.error = error
        self.stage = stage
        self.reachability = reachability
    }
}
