import LinuxSupport

extension RetriedRequest {
    /// Sends the request until there is a response to keep, and reads that to its end, all within the deadline of the policy.
    ///
    /// - Parameters:
    ///   - finished: The result, if the attempt has read the response; else nil.
    ///   - finish: Reads the last response, if the attempt has left it unread because it might have been retried. It must end when it is
    ///     cancelled.
    /// - Returns: What `finish` returned, and every attempt.
    /// - Throws: ``RetryError``, also if the last response could not be read, or not in time.
    package func run<Content: Sendable>(
        finished: (Value) -> Content?,
        finishing finish: @escaping @Sendable (Value) async throws -> Content
    ) async throws(RetryError) -> RetryOutcome<Content> {
        let clock = Timeline(options.clock)
        let outcome = try await run(on: clock)
        if let content = finished(outcome.value) {
            return RetryOutcome(value: content, attempts: outcome.attempts, ending: outcome.ending)
        }
        switch await result(of: finish, with: outcome.value, on: clock) {
        case .success(let content):
            return RetryOutcome(value: content, attempts: outcome.attempts, ending: outcome.ending)
        case .failure(let error):
            var attempts = outcome.attempts
            // A response that was to be retried, and is not any more, stays the failure.
            if outcome.ending == nil { attempts[attempts.count - 1].error = error }
            var ending = outcome.ending ?? .notRetryable
            if let deadline = policy.deadline, clock.now >= deadline { ending = .deadlineExpired }
            if Task.isCancelled { ending = .cancelled }
            let target = (try? target()) ?? .network(isRepeatable: false, priority: options.priority)
            throw RetryError(ending: ending, target: target, attempts: attempts)
        }
    }

    /// Finishes a response, and cancels that at the deadline.
    private func result<Content: Sendable>(
        of finish: @escaping @Sendable (Value) async throws -> Content,
        with answer: Value,
        on clock: Timeline
    ) async -> Result<Content, any Error> {
        await withTaskGroup(of: Result<Content, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await finish(answer)) } catch { return .failure(error) }
            }
            if let deadline = policy.deadline {
                group.addTask {
                    try? await clock.sleep(until: deadline)
                    return nil
                }
            }
            var result: Result<Content, any Error>?
            while result == nil, let next = await group.next() {
                result = next
                group.cancelAll()
            }
            return result ?? .failure(CancellationError())
        }
    }

    /// Sends the request once, to its first host, on behalf of a run that has decided to send it now and judges the result. It neither waits nor
    /// counts. The attempt is cut at the deadline of the policy, and if it cannot be connected.
    ///
    /// - Parameter isProbe: Whether the attempt tests the monitor. A missing path does not cut it then.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``RetryError``, with the attempt.
    package func once(isProbe: Bool) async throws(RetryError) -> Value {
        let (hop, target) = try first()
        let clock = Timeline(options.clock)
        let run = RetryRun.make(work(hop, target, LatestRequest(), nil), at: target, options.coordinator, on: clock)
        let ending = await run.once(isProbe: isProbe)
        let failure: any Error
        switch run.result {
        case .kept(let answer, _)?, .held(let answer, _)?: return answer.value
        case .failed(let error)?: failure = error
        case nil: failure = CancellationError()
        }
        let attempt = RetryAttempt(1, .zero, clock.now, failure)
        let end = ending ?? (Task.isCancelled ? .cancelled : .notRetryable)
        throw RetryError(ending: end, target: target, attempts: [attempt])
    }
}
