import LinuxSupport

/// Does work that needs the network, and does it again when that makes sense: not while the network is away, but for a probe after a
/// minute (``RetryLimits/probeInterval``), at once when it is back, and never twice what must not be done twice.
///
/// ```swift
/// let target = try RetryTarget(host: "example.org", method: .get)
/// let outcome = try await withRetry(target: target) { attempt in
///     try await fetch()
/// }
/// ```
///
/// The first attempt is made at once, whatever the monitor says (unless ``RetryPolicy/waitsFirst``): only an attempt is proof. What follows a failure is in the tables
/// of ``RetryPolicy``; what all requests to a host share, in ``RetryCoordinator``.
///
/// - Parameters:
///   - policy: When to try again.
///   - target: Where the work goes, and whether it may be done twice.
///   - coordinator: What is shared with other requests.
///   - clock: What measures the deadline and the history.
///   - observer: Told of each wait, and of the end.
///   - isolation: Where this runs; the caller's own unless told otherwise.
///   - operation: The work, called once for each attempt with its number, beginning with 1. It runs in a child task, is cancelled at
///     the deadline, and has to end when it is cancelled: this returns only then. An error that is no ``RetryableError``, and that
///     the policy's classifier does not know, is not retried.
/// - Returns: What the work returned, with every attempt.
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
    let run = makeRun(policy, target, coordinator, clock, observer, operation)
    return try run.outcome(after: await run.end())
}

/// A function of its own, so that its copies are not on the stack of whoever waits.
@inline(never)
func makeRun<Value: Sendable>(
    _ policy: RetryPolicy,
    _ target: RetryTarget,
    _ coordinator: RetryCoordinator,
    _ clock: some Clock<Duration>,
    _ observer: RetryObserver?,
    _ operation: @escaping @Sendable (Int) async throws -> Value
) -> RetryRun<Value> {
    let work = RetryWork<Value>(policy: policy, waitsFirst: policy.waitsFirst, observer: observer) { context in
        do { return .kept(try await operation(context.number), isGood: true) } catch { return .failed(error) }
    }
    return .make(work, at: target, coordinator, on: Timeline(clock))
}

extension RetryRun {
    /// What came of it, once it has ended.
    @inline(never)
    func outcome(after ending: RetryError.Ending?) throws(RetryError) -> RetryOutcome<Value> {
        guard ending == nil, case .kept(let value, _)? = result else {
            throw RetryError(ending: ending ?? .cancelled, target: target, attempts: attempts)
        }
        return RetryOutcome(value: value, attempts: attempts)
    }
}

/// As ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)``, for what is kept until it is done and goes one at a time: its
/// retries neither take from nor add to the host's budget, which belongs to those that somebody waits for.
///
/// - Returns: What the work returned.
package func withUnpaidRetry<Value: Sendable>(
    policy: RetryPolicy,
    target: RetryTarget,
    coordinator: RetryCoordinator,
    clock: any Clock<Duration>,
    observer: @escaping RetryObserver,
    operation: @escaping @Sendable (AttemptContext) async throws -> Value
) async throws(RetryError) -> Value {
    var work = RetryWork<Value>(policy: policy, waitsFirst: policy.waitsFirst, observer: observer) { context in
        do { return .kept(try await operation(context), isGood: false) } catch { return .failed(error) }
    }
    work.isCharged = false
    let run = RetryRun.make(work, at: target, coordinator, on: Timeline(clock))
    return try run.outcome(after: await run.end()).value
}

/// Sends a request with any client, and sends it again when that makes sense, as
/// ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)``; with the adapter, the retrier and all else that `options`
/// have. Redirects are the client's.
///
/// - Parameters:
///   - request: What to send; its method, idempotency key and host decide how it is retried.
///   - policy: When to try again.
///   - options: Adapter, retrier, host, priority, coordinator, observer, clock. What else there is needs a client that tells more.
///   - isolation: Where this runs; the caller's own unless told otherwise.
///   - send: Sends the adapted request. An answer that is a failure is to be thrown, as a ``StatusFailure`` for example.
/// - Returns: What `send` returned, with every attempt.
/// - Throws: ``RetryError``, with every attempt.
public func withRetry<Value: Sendable>(
    _ request: PlainRequest,
    policy: RetryPolicy = .standard,
    options: RequestRetryOptions = RequestRetryOptions(),
    isolation: isolated (any Actor)? = #isolation,
    send: @escaping @Sendable (PlainRequest) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    var options = options
    options.redirects = RedirectRule.none
    let retried = RetriedRequest<Value>(
        request,
        host: RequestURL(request.url)?.host,
        policy: policy,
        options: options,
        needsPath: false,
        tellsStatus: false,
        body: .none
    ) { hop, _ in
        ClientAnswer(try await send(hop.traced), AnswerHead(status: 200) { _ in nil })
    }
    return try await retried.run()
}
