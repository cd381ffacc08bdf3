import LinuxSupport

/// What is tried, and by whose rules.
struct RetryWork<Value: Sendable>: Sendable {
    var policy: RetryPolicy
    /// Whether the first attempt, too, waits for a path, and for the end of what a server asks for.
    var waitsFirst: Bool
    /// Whether retries are charged to the host's budget.
    var isCharged = true
    /// Told what happens.
    var observer: RetryObserver?
    /// What the client tells of its attempts; nil where it tells nothing: then none is cut for the want of a path.
    var progress: AttemptProgress?
    /// How long an attempt may take to connect.
    var connectTimeout: Duration?
    /// Asks the caller's retrier about a failure, which has been retried so often.
    var ask: (@Sendable (_ retries: Int, FailureStage?, any Error) async -> RetryResult)?
    /// Lets go of an answer that is not kept.
    var letGo: @Sendable (Value) async -> Void = { _ in }
    /// Makes an attempt.
    var attempt: @Sendable (AttemptContext) async -> AttemptResult<Value>

    /// Tells whoever wants to know.
    func tell(_ event: RetryEvent, _ coordinator: RetryCoordinator) {
        observer?(event)
        coordinator.tell(event)
    }
}

/// What is known of an attempt when it begins.
package struct AttemptContext: Sendable {
    /// 1 is the first.
    package let number: Int
    /// The one before it at the same host, with its error; nil for the first there.
    package let previous: RetryAttempt?
    /// Whether it is to show whether the monitor is right, which says that there is no path.
    package let isProbe: Bool
}

/// What an attempt brought.
enum AttemptResult<Value: Sendable>: Sendable {
    /// What was wanted, or an answer that is no failure. One that is not good, a 404 for example, earns no budget.
    case kept(Value, isGood: Bool)
    /// An answer that may be retried, and is kept where it is not.
    case held(Value, any Error)
    case failed(any Error)
}

/// What cut an attempt short.
enum AttemptCut {
    /// The request ends.
    case end(RetryError.Ending)
    /// It could not succeed.
    case failed(any RetryableError)
}

extension RetryRun {
    /// Makes one attempt, and nothing else, on behalf of another run, which waits, counts and judges.
    ///
    /// - Parameter isProbe: Whether it is to show whether the monitor is right.
    /// - Returns: What put an end to it, if it was not let run to its end; its result is there.
    func once(isProbe: Bool) async -> RetryError.Ending? {
        self.isProbe = isProbe
        defer { entry.leave() }
        return await attempt()
    }

    /// Makes one attempt, which is cancelled at the deadline, by a shutdown, and where it cannot be connected; returns when it has
    /// ended, and its result is there.
    ///
    /// - Returns: What put an end to the request, if the attempt was not let run to its end.
    func attempt() async -> RetryError.Ending? {
        work.progress?.begin()
        let connecting = work.progress.map {
            ConnectingAttempt(
                progress: $0,
                entry: entry,
                limit: work.connectTimeout,
                began: clock.now,
                isProbe: isProbe,
                isRepeatable: target.isRepeatable
            )
        }
        let (ended, cut) = await untilCut(of: connecting) { [attempt = work.attempt, context = nextContext] in
            await attempt(context)
        }
        var result = ended ?? .failed(CancellationError())
        defer { self.result = result }
        switch cut {
        case .end(let ending): return ending
        case .failed(let failure): replace(&result, with: failure)
        case nil: break
        }
        return nil
    }

    /// Does something that takes its time, and cancels it at the deadline, by a shutdown, and where the attempt cannot succeed; returns
    /// when it has ended.
    ///
    /// - Returns: What came of it, nil where it was not begun any more; and what cut it short.
    func untilCut<Answer: Sendable>(
        of connecting: ConnectingAttempt? = nil,
        _ work: @escaping @Sendable () async -> Answer
    ) async -> (answer: Answer?, cut: AttemptCut?) {
        let signal = WakeSignal()
        guard let registration = coordinator.beginWork(signal) else { return (nil, .end(.shutDown)) }
        defer { coordinator.endWork(registration) }
        let answer = Locked<Answer?>(nil)
        let cut = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let ended = await work()
                answer.withLock { $0 = ended }
                signal.send()
            }
            defer { group.cancelAll() }
            return await coordinator.cut(of: connecting, at: target.host, until: deadline, on: clock, signal) {
                answer.withLock { $0 != nil }
            }
        }
        return (answer.withLock { $0 }, cut)
    }

    /// Tells of an attempt that was cancelled why it was; one that has ended by itself at the same moment is left as it is.
    private func replace(_ result: inout AttemptResult<Value>, with failure: any RetryableError) {
        guard case .failed(is CancellationError) = result, !Task.isCancelled else { return }
        // It may have been sent in the very moment it was cancelled.
        guard work.progress?.hasSent == false else {
            result = .failed(failure.failureStage == .neverSent ? AttemptError.sent(failure) : failure)
            return
        }
        work.progress?.cut()
        result = .failed(failure)
    }
}

extension RetryRun {
    /// Asks the coordinator's advisor, if it has one and the network may be at fault.
    ///
    /// - Returns: What is advised, or why no further attempt is made.
    @inline(never)
    func advice() async -> Result<RetryAdvice, RetryCoordinator.Refusal> {
        guard let advisor = coordinator.advisor, let last = attempts.last, last.reason != .unreachable,
            last.stage?.isOfNetwork == true
        else { return .success(.goOn) }
        return await asking { [host = target.host] in await advisor.advice(for: host) }
    }

    /// Waits for what the advisor wants to be waited for.
    ///
    /// - Returns: Why no further attempt is made; nil where it is over.
    @inline(never)
    func waitForEndOfObstacle() async -> RetryError.Ending? {
        guard let advisor = coordinator.advisor else { return nil }
        let end: Result<Void, RetryCoordinator.Refusal> = await asking { [host = target.host] in
            await advisor.waitForEnd(of: host)
        }
        if case .failure(let refusal) = end { return refusal.ending }
        return nil
    }

    /// Asks somebody who may take his time: until the deadline, or a shutdown.
    func asking<Answer: Sendable>(
        _ ask: @escaping @Sendable () async -> Answer
    ) async -> Result<Answer, RetryCoordinator.Refusal> {
        let (answer, cut) = await untilCut(ask)
        if case .end(let ending)? = cut { return .failure(.init(ending: ending)) }
        return answer.map { .success($0) } ?? .failure(.init(ending: .cancelled))
    }
}
