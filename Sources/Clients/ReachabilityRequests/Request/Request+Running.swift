package import Dispatch
import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// The steps of a request from its creation to its result.
extension Request {
    /// A Boolean value that indicates whether the request is sent without `resume()` and without a task that waits for it.
    var startsAutomatically: Bool { values.withLock { $0.startsAutomatically } ?? session.startRequestsImmediately }

    /// Arranges that the request is sent by its first handler or later, if the caller or else the session requires it. In a cancelled task
    /// there is no result to wait for. A stream is sent only for a reader.
    func start(_ isAutomatic: Bool?) -> Self {
        if let isAutomatic { values.withLock { $0.startsAutomatically = isAutomatic } }
        guard !Task.isCancelled else { return self }
        if session.requestSetup == .eager {
            gate.shut()
            values.withLock { $0.isHeld = true }
            begin(isHeld: true)
        }
        if startsAutomatically, !(self is DataStreamRequest) { session.active.add(self) }
        return self
    }

    /// Sends the request, unless it was sent or has ended.
    func begin() {
        if session.requestSetup == .eager { release() }
        begin(isHeld: false)
    }

    private func begin(isHeld: Bool) {
        guard !exchange.hasBegun else { return }
        session.active.begin(self)
        didBegin(isHeld: isHeld)
        exchange.start({ [self] in await work() }, after: { [self] in didEnd() })
        if exchange.result != nil { didEnd() }
    }

    /// Sends a request that was adapted at its creation.
    private func release() {
        let (wasHeld, isSuspended) = values.withLock { values in
            defer { values.isHeld = false }
            if values.isHeld, !values.isSuspended { gate.open() }
            return (values.isHeld, values.isSuspended)
        }
        if wasHeld, !isSuspended, exchange.result == nil { didResume() }
    }

    private func work() async -> Answer {
        let request: URLRequest
        switch created {
        case .failure(let error): return Answer(error: error)
        case .success(let value): request = value
        }
        // The error of an adapter ends the request, even if it is held.
        let isReady = session.requestSetup == .lazy ? true : await prepare(request)
        if isReady { await gate.pass() }
        let began = ContinuousClock.now
        var answer = Task.isCancelled ? Answer(error: .explicitlyCancelled) : await run(request)
        while let delay = await serialize(&answer) {
            willRun(again: answer)
            if delay > .zero { try? await session.options.clock.sleep(for: delay) }
            guard !Task.isCancelled else { return Answer(error: .explicitlyCancelled) }
            let elapsed = began.duration(to: .now)
            var next = await run(request)
            next.metrics?.add(answer.metrics, elapsed)
            answer = next
        }
        return answer
    }

    /// Serializes the answer for the handlers, and calls the retriers for each error of a serializer.
    ///
    /// - Returns: The delay of a retry; nil if the answer is final.
    private func serialize(_ answer: inout Answer) async -> Duration? {
        let (serializers, isGivenUp) = values.withLock { ($0.serializers, $0.isGivenUp) }
        guard !serializers.isEmpty, !retriers.isEmpty, answer.error == nil || isGivenUp, !Task.isCancelled,
            answer.metrics?.duration ?? .zero < session.policy.deadline ?? .seconds(Int64.max)
        else { return nil }
        answer.response = answer.response ?? response
        judge(&answer)
        values.withLock { [answer] values in
            values.retryCount = max(0, (answer.metrics?.retryCount ?? 0) - values.challenges)
            if answer.error == nil { values.failure = nil }
            didFinish(answer, &values)
        }
        for (number, serialize) in serializers.enumerated() {
            var (response, error) = serialize(self, answer, nil)
            if let cause = error {
                let result = await judgement(of: cause)
                if result.retryRequired { return result.boundedDelay ?? .zero }
                if let own = result.error {
                    error = .requestRetryFailed(retryError: own, originalError: cause)
                    response = serialize(self, answer, error).response
                }
            }
            answer.responses[number] = response
        }
        return nil
    }

    /// Prepares a further run of the request after a serializer has failed.
    private func willRun(again answer: Answer) {
        if let file = answer.file { OwnFile.remove(file.path) }
        values.withLock { values in
            (values.isFinished, values.error) = (false, nil)
            values.earlierRetries = (answer.metrics?.retryCount ?? 0) + 1
        }
        monitors?.report { $0.requestIsRetrying(self) }
    }

    /// Calls the retriers, until one decides.
    func judgement(of error: AFError) async -> RetryResult {
        for retrier in retriers {
            let result = try? await completed { retrier.retry(self, for: session, dueTo: error, completion: $0) }
            guard case .doNotRetry? = result else { return result ?? .doNotRetry }
        }
        return .doNotRetry
    }

    /// Applies the validations that were added after the answer was received.
    private func judge(_ answer: inout Answer) {
        guard answer.error == nil, let head = answer.response else { return }
        // A body in memory without bytes is known to be empty.
        let data = self is DataRequest ? answer.data ?? Data() : nil
        let validator = validator.withLock { $0 }
        let refusal = validator.refusal(lastRequest, head, data, after: answer.checkCount) {
            didValidate(lastRequest, head, answer.data, $0)
        }
        answer.checkCount = validator.count
        guard let refusal else { return }
        (answer.error, answer.responses) = (refusal, [:])
        values.withLock { $0.error = refusal }
    }

    /// Waits for the answer, and applies all validations that were added before its end.
    ///
    /// - Parameter starts: True if the request is sent, unless it was sent already.
    func answer(starts: Bool = true) async -> Answer {
        if starts, !Task.isCancelled { begin() }
        var answer = await exchange.value()
        // Monitors receive the end before a handler or a task does.
        if monitors != nil, exchange.result != nil { didEnd() }
        // The head of a body that was cancelled or is incomplete.
        answer.response = answer.response ?? response
        judge(&answer)
        return answer
    }

    /// Calls a closure when the request has its result, before the handlers.
    package func atEnd(_ call: @escaping @Sendable () -> Void) {
        let hasEnded = values.withLock { values in
            if !values.hasEnded { values.endHandlers.append(call) }
            return values.hasEnded
        }
        if hasEnded { call() }
    }

    /// Calls a closure with the answer, after the closures that were added before.
    func enqueue(_ work: @escaping @Sendable (Answer) async -> Void) {
        if startsAutomatically { begin() }
        values.withLock { values in
            let before = values.lastHandler
            values.lastHandler = Task { [self] in
                await before?.value
                await work(await answer(starts: false))
            }
        }
    }
}

extension DispatchQueue {
    /// Calls a closure, and waits for its end.
    package func call(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            async {
                body()
                continuation.resume()
            }
        }
    }
}
