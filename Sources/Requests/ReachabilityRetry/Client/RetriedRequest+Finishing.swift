import LinuxPrimitives

extension RetriedRequest {
    /// Sends it until there is an answer to keep, and takes that to its end, all within the policy's deadline.
    ///
    /// - Parameter finish: Makes of the answer what the caller wants. It reads the last one, which was left unread while it was open whether
    ///   it would be retried; it has to end when it is cancelled.
    /// - Returns: What `finish` returned, and every attempt.
    /// - Throws: ``RetryError``: also where the last answer could not be read, or not in time.
    package func run<Content: Sendable>(
        finishing finish: @escaping @Sendable (Value) async throws -> Content
    ) async throws(RetryError) -> RetryOutcome<Content> {
        let clock = Timeline(options.clock)
        let outcome = try await run(on: clock)
        let result = await result(of: finish, with: outcome.value, on: clock)
        switch result {
        case .success(let content):
            return RetryOutcome(value: content, attempts: outcome.attempts, ending: outcome.ending)
        case .failure(let error):
            var attempts = outcome.attempts
            // That it cannot be read changes nothing: what was to be retried, and is not any more, stays the failure.
            if outcome.ending == nil { attempts[attempts.count - 1].error = error }
            var ending = outcome.ending ?? .notRetryable
            if let deadline = policy.deadline, clock.now >= deadline { ending = .deadlineExpired }
            if Task.isCancelled { ending = .cancelled }
            let target = (try? target()) ?? .network(isRepeatable: false, priority: options.priority)
            throw RetryError(ending: ending, target: target, attempts: attempts)
        }
    }

    /// Finishes an answer, and cancels that at the deadline.
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
}
