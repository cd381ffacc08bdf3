import LinuxSupport

/// The work of a run and the rules for its retries.
struct RetryWork: Sendable {
    var policy: RetryPolicy
    /// A Boolean value that indicates whether the first attempt also waits for a path, and for the end of a pause that
    /// the server requested (Retry-After).
    var waitsFirst: Bool
    /// A Boolean value that indicates whether retries are charged to the host's budget.
    var isCharged = true
    /// Receives the events of the run.
    var observer: RetryObserver?
    /// The progress of attempts, as reported by the client. If nil, the client reports none, and no attempt is ended
    /// early because of a missing path.
    var progress: AttemptProgress?
    /// The maximum time of an attempt until it is connected. If nil, only the limits of the client apply.
    var connectTimeout: Duration?
    /// Calls the caller's retrier about a failure. `retries` is the number of retries so far.
    var retrier: (@Sendable (_ retries: Int, FailureStage?, any Error) async -> RetryResult)?
    /// Releases the response of the latest attempt, which is not returned to the caller.
    var release: @Sendable () async -> Void = {}
    /// Makes an attempt. It keeps its own value or response.
    var attempt: @Sendable (AttemptContext) async -> AttemptResult

    /// Sends an event to the observers of the request and of the coordinator.
    func publish(_ event: RetryEvent, _ coordinator: RetryCoordinator) {
        observer?(event)
        coordinator.publish(event)
    }
}

/// The information that an attempt receives when it begins.
package struct AttemptContext: Sendable {
    /// The number of the attempt. The first is 1.
    package let number: Int
    /// The previous attempt at the same host, with its error; nil for the first attempt there.
    package let previous: RetryAttempt?
    /// A Boolean value that indicates whether the attempt is a probe: it tests the monitor, which reports that the host
    /// is not reachable.
    package let isProbe: Bool
}

/// The result of an attempt. Its value is kept by the work.
enum AttemptResult: Sendable {
    /// There is a result to return: a value, or a response that is not retried. If `isGood` is false, for a 404 for
    /// example, it adds nothing to the budget.
    case kept(isGood: Bool)
    /// There is a response that may be retried. It is returned to the caller if it is not retried.
    case held(any Error)
    case failed(any Error)

    /// A Boolean value that indicates whether there is a value or a response.
    var hasAnswer: Bool { if case .failed = self { false } else { true } }
}

/// The reason why an attempt was ended early.
enum Interruption {
    /// The request ends.
    case end(RetryError.Ending)
    /// The attempt could not succeed.
    case failed(any RetryableError)
}

extension RetryRun {
    /// Makes one attempt on behalf of another run, which waits, counts and decides. The result is stored in `result`.
    ///
    /// - Parameter isProbe: True if the attempt tests the monitor, which reports that the host is not reachable.
    /// - Returns: The reason why the request ends, if the attempt was ended early; otherwise nil.
    func once(isProbe: Bool) async -> RetryError.Ending? {
        self.isProbe = isProbe
        defer { entry.leave() }
        return await attempt()
    }

    /// Makes one attempt and stores its result in `result`. The attempt is cancelled at the deadline, by a shutdown,
    /// and if it cannot be connected. Returns when the attempt has ended.
    ///
    /// - Returns: The reason why the request ends, if the attempt was ended early; otherwise nil.
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
        let (ended, cut) = await untilInterrupted(of: connecting) { [attempt = work.attempt, context = nextContext] in
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

    /// Runs an operation, and cancels it at the deadline, by a shutdown, and if the attempt cannot succeed. Returns
    /// when the operation has ended.
    ///
    /// - Returns: The result of the operation, nil if it was not started; and the reason why it was ended early, if it
    ///   was.
    func untilInterrupted<Answer: Sendable>(
        of connecting: ConnectingAttempt? = nil,
        _ work: @escaping @Sendable () async -> Answer
    ) async -> (answer: Answer?, cut: Interruption?) {
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

    /// Replaces the cancellation error of an attempt that was ended early with its reason. The result of an attempt
    /// that ended normally at the same moment is kept.
    private func replace(_ result: inout AttemptResult, with failure: any RetryableError) {
        guard case .failed(is CancellationError) = result, !Task.isCancelled else { return }
        // The request may have been sent at the moment of the cancellation.
        guard work.progress?.hasSent == false else {
            result = .failed(failure.failureStage == .neverSent ? AttemptError.sent(failure) : failure)
            return
        }
        work.progress?.cut()
        result = .failed(failure)
    }
}

extension RetryRun {
    /// Queries the coordinator's advisor, if there is one and the network may be the cause of the failure.
    ///
    /// - Returns: The advice, or the reason why no further attempt is made.
    @inline(never)
    func advice() async -> Result<RetryAdvice, RetryCoordinator.Refusal> {
        guard let advisor = coordinator.advisor, let last = attempts.last, last.reason != .unreachable,
            last.stage?.isOfNetwork == true
        else { return .success(.followPolicy) }
        return await consulting { [host = target.host] in await advisor.advice(for: host) }
    }

    /// Waits until the advisor reports that the obstacle is over.
    ///
    /// - Returns: The reason why no further attempt is made; nil if the obstacle is over.
    @inline(never)
    func waitForEndOfObstacle() async -> RetryError.Ending? {
        guard let advisor = coordinator.advisor else { return nil }
        let end: Result<Void, RetryCoordinator.Refusal> = await consulting { [host = target.host] in
            await advisor.waitForEnd(of: host)
        }
        if case .failure(let refusal) = end { return refusal.ending }
        return nil
    }

    /// Runs an operation that may take long, until the deadline or a shutdown.
    ///
    /// - Returns: The result of the operation, or the reason why no further attempt is made.
    func consulting<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer
    ) async -> Result<Answer, RetryCoordinator.Refusal> {
        let (answer, cut) = await untilInterrupted(question)
        if case .end(let ending)? = cut { return .failure(.init(ending: ending)) }
        return answer.map { .success($0) } ?? .failure(.init(ending: .cancelled))
    }
}
