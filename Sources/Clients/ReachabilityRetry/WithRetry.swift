import LinuxSupport

/// Runs an operation that needs the network, and repeats it if that is useful and safe. While the network is down, only
/// probes are made, the first after a minute (``RetryLimits/probeInterval``). When the network is back, the operation
/// is repeated immediately. An operation that must not run twice is never repeated after it may have taken effect.
///
/// ```swift
/// let target = try RetryTarget(host: "example.org", method: .get)
/// let outcome = try await withRetry(target: target) { attempt in
///     try await fetch()
/// }
/// ```
///
/// The first attempt is made immediately, whatever the monitor reports, because only an attempt proves that the host is
/// reachable. To wait for a path first, set ``RetryPolicy/waitsFirst``. The tables of ``RetryPolicy`` define the step
/// after a failure. ``RetryCoordinator`` contains the state that all requests to a host share.
///
/// - Parameters:
///   - policy: The rules for retries.
///   - target: The host of the operation, and whether it may be repeated.
///   - coordinator: The state that all requests share.
///   - clock: Measures the deadline and the times of the history.
///   - observer: Receives an event for each wait, and for the end.
///   - isolation: The actor on which this function runs. The default is that of the caller.
///   - operation: The work. Called once for each attempt with its number, which starts at 1. It runs in a child task
///     and is cancelled at the deadline. It must end when it is cancelled, because this function returns only then. An
///     error is retried only if it is a ``RetryableError`` or if the policy's classifier returns a stage for it.
/// - Returns: The value that the operation returned, with every attempt.
/// - Throws: ``RetryError``, with every attempt.
public func withRetry<Value: Sendable>(
    policy: RetryPolicy = .standard,
    target: RetryTarget,
    coordinator: RetryCoordinator = .shared,
    clock: some Clock<Duration> = ContinuousClock(),
    observer: RetryObserver? = nil,
    isolation: isolated (any Actor)? = #isolation,
    operation: @escaping @Sendable (_ attempt: Int) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    let (run, kept) = makeRun(policy, target, coordinator, clock, observer, operation)
    return try run.outcome(after: await run.end()).returning(kept)
}

/// Creates a run. A separate function that is not inlined, so that its copies are not on the stack of the waiting task.
@inline(never)
func makeRun<Value: Sendable>(
    _ policy: RetryPolicy,
    _ target: RetryTarget,
    _ coordinator: RetryCoordinator,
    _ clock: some Clock<Duration>,
    _ observer: RetryObserver?,
    _ operation: @escaping @Sendable (Int) async throws -> Value
) -> (run: RetryRun, kept: Locked<Value?>) {
    let kept = Locked<Value?>(nil)
    let work = RetryWork(policy: policy, waitsFirst: policy.waitsFirst, observer: observer) { context in
        await kept.keep(isGood: true) { try await operation(context.number) }
    }
    return (.make(work, at: target, coordinator, on: Timeline(clock)), kept)
}

extension Locked {
    /// Keeps the value of an attempt.
    fileprivate func keep<Kept: Sendable>(
        isGood: Bool,
        _ operation: () async throws -> Kept
    ) async -> AttemptResult where Value == Kept? {
        do {
            let value = try await operation()
            withLock { $0 = value }
            return .kept(isGood: isGood)
        } catch {
            return .failed(error)
        }
    }
}

extension RetryRun {
    /// Returns the outcome of a run that has ended.
    @inline(never)
    fileprivate func outcome(after ending: RetryError.Ending?) throws(RetryError) -> RetryOutcome<Void> {
        guard ending == nil, result?.hasAnswer == true else {
            throw RetryError(ending: ending ?? .cancelled, target: target, attempts: attempts)
        }
        return RetryOutcome(value: (), attempts: attempts)
    }
}

/// Runs an operation like ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)``, without using
/// the host's budget. Its retries neither remove nor add tokens. For stored requests that are sent one at a time. The
/// budget remains for requests that a caller waits for.
///
/// - Returns: The value that the operation returned.
package func withUnchargedRetry<Value: Sendable>(
    policy: RetryPolicy,
    target: RetryTarget,
    coordinator: RetryCoordinator,
    clock: any Clock<Duration>,
    observer: @escaping RetryObserver,
    operation: @escaping @Sendable (AttemptContext) async throws -> Value
) async throws(RetryError) -> Value {
    let kept = Locked<Value?>(nil)
    var work = RetryWork(policy: policy, waitsFirst: policy.waitsFirst, observer: observer) { context in
        await kept.keep(isGood: false) { try await operation(context) }
    }
    work.isCharged = false
    let run = RetryRun.make(work, at: target, coordinator, on: Timeline(clock))
    return try run.outcome(after: await run.end()).returning(kept).value
}

/// Sends a request with any client, and retries it like
/// ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)``. The client follows redirects itself.
///
/// - Parameters:
///   - request: The request. Its method, idempotency key and host determine how it is retried.
///   - policy: The rules for retries.
///   - options: The adapter, retrier, host, priority, coordinator, observer, tracer, idempotency key and clock. The
///     other options have no effect here, because they need a client that reports the progress of an attempt.
///   - isolation: The actor on which this function runs. The default is that of the caller.
///   - send: Sends the adapted request. If the response is a failure, it must throw, for example a ``StatusFailure``.
/// - Returns: The value that `send` returned, with every attempt.
/// - Throws: ``RetryError``, with every attempt.
public func withRetry<Value: Sendable>(
    _ request: RequestHead,
    policy: RetryPolicy = .standard,
    options: RequestRetryOptions = RequestRetryOptions(),
    isolation: isolated (any Actor)? = #isolation,
    send: @escaping @Sendable (RequestHead) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    var options = options
    options.redirects = RedirectRule.none
    let kept = Locked<Value?>(nil)
    let retried = RetriedRequest(
        request,
        host: RequestURL(request.url)?.host,
        policy: policy,
        options: options,
        needsPath: false,
        tellsStatus: false,
        body: .none
    ) { hop, _ in
        let value = try await send(hop.traced)
        kept.withLock { $0 = value }
        return ResponseHead(status: 200) { _ in nil }
    }
    return try await retried.run().returning(kept)
}
