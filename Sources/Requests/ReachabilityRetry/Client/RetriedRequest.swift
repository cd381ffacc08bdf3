import LinuxPrimitives

/// A request of an HTTP client that is retried: what async-http-client and URLSession have in common.
package struct RetriedRequest<Value: Sendable>: Sendable {
    /// The request as the caller made it.
    package let request: PlainRequest
    /// The host of its URL, without brackets; empty or nil for none.
    package let host: String?
    package let policy: ReachabilityRetryPolicy
    package let options: RequestRetryOptions
    /// Whether the body has been used up by an attempt that failed with this error.
    package let isBodyLost: @Sendable (any Error) -> Bool
    /// Lets go of an answer that is to be retried, whose body nobody will read.
    package let letGo: @Sendable (Value) async -> Void
    /// Makes one attempt with the adapted request, and returns when the answer has begun.
    package let send: @Sendable (PlainRequest, AttemptProgress) async throws -> ClientAnswer<Value>
    /// Whether it needs a path to its host: not where the network has no part in it.
    package let needsPath: Bool

    package init(
        _ request: PlainRequest,
        host: String?,
        policy: ReachabilityRetryPolicy,
        options: RequestRetryOptions,
        needsPath: Bool = true,
        isBodyLost: @escaping @Sendable (any Error) -> Bool = { _ in false },
        letGo: @escaping @Sendable (Value) async -> Void = { _ in },
        send: @escaping @Sendable (PlainRequest, AttemptProgress) async throws -> ClientAnswer<Value>
    ) {
        self.request = request
        self.host = host
        self.policy = policy
        self.options = options
        self.needsPath = needsPath
        self.isBodyLost = isBodyLost
        self.letGo = letGo
        self.send = send
    }

    /// Sends it until there is an answer to keep.
    ///
    /// - Returns: The answer: one that is not to be retried, or the last one where no retry is allowed any more; then also how it
    ///   ended.
    /// - Throws: ``RetryError`` where the last attempt had no answer, or its answer was let go of for a retry that was not made.
    package func run() async throws(RetryError) -> (outcome: RetryOutcome<Value>, ending: RetryError?) {
        let target = try target()
        let held = HeldAnswer<Value>()
        do throws(RetryError) {
            return (try await retry(target, held, on: options.clock), nil)
        } catch {
            guard let answer = held.take() else { throw error }
            guard error.ending.leavesAnswer else {
                await letGo(answer)
                throw error
            }
            return (RetryOutcome(value: answer, attempts: error.attempts), error)
        }
    }

    private func retry(
        _ target: RetryTarget,
        _ held: HeldAnswer<Value>,
        on clock: some Clock<Duration>
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let progress = AttemptProgress()
        let run = RetryRun.make(
            policy: policy,
            target: target,
            coordinator: options.coordinator,
            clock: clock,
            willWait: { if let answer = held.take() { await letGo(answer) } },
            progress: needsPath ? progress : nil,
            connectTimeout: options.connectTimeout,
            operation: { _ in try await attempt(held, progress, isRepeatable: target.isRepeatable) }
        )
        return try run.outcome(after: await run.end())
    }

    private func attempt(
        _ held: HeldAnswer<Value>,
        _ progress: AttemptProgress,
        isRepeatable: Bool
    ) async throws -> Value {
        let adapted = try await adapt()
        do {
            let answer = try await send(adapted, progress)
            guard policy.statuses.contains(answer.status) else { return answer.value }
            held.hold(answer.value)
            throw StatusFailure(status: answer.status, retryAfter: answer.retryAfter, date: answer.date)
        } catch  where !(error is CancellationError) && isBodyLost(error) {
            throw BodyNotReplayable(cause: error)
        } catch  where progress.isRedirected && !(error is CancellationError) {
            // What a later hop answers says nothing of what the first has done; a repeatable request may heed it.
            throw isRepeatable && error is StatusFailure ? error : SentRequest(cause: error)
        }
    }

    private func adapt() async throws -> PlainRequest {
        do {
            return try await options.adapter?.adapt(request) ?? request
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AdapterFailure(cause: error)
        }
    }

    private func target() throws(RetryError) -> RetryTarget {
        do throws(RetryTargetError) {
            return try RetryTarget(
                host: options.host ?? host ?? "",
                method: request.method,
                idempotencyKey: request.idempotencyKey,
                priority: options.priority
            )
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
    }
}

extension RetryError.Ending {
    /// Whether the answer of the last attempt is what the caller gets.
    fileprivate var leavesAnswer: Bool { self != .cancelled && self != .shutDown }
}

/// The answer of the latest attempt while it is not decided whether it is the last one.
final class HeldAnswer<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    func hold(_ answer: Value) {
        value.withLock { $0 = answer }
    }

    func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}

/// What a client was answered, and what decides whether that is the end of it.
package struct ClientAnswer<Value: Sendable>: Sendable {
    package let value: Value
    package let status: Int
    /// The field Retry-After.
    package let retryAfter: String?
    /// The field Date, which Retry-After is counted from.
    package let date: String?

    package init(_ value: Value, status: Int, retryAfter: String?, date: String?) {
        self.value = value
        self.status = status
        self.retryAfter = retryAfter
        self.date = date
    }
}
