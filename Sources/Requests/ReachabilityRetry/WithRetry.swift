/// Does work that needs the network, and does it again when that makes sense: never while the network is away, at once when it is
/// back, and never twice what must not be done twice.
///
/// ```swift
/// let target = try RetryTarget(host: "example.org", method: .get)
/// let outcome = try await withRetry(target: target) { attempt in
///     try await fetch()
/// }
/// ```
///
/// The first attempt is made at once, whatever the monitor says: only an attempt is proof. What follows a failure is in the tables
/// of ``ReachabilityRetryPolicy``; what all requests to a host share, in ``RetryCoordinator``.
///
/// - Parameters:
///   - policy: When to try again.
///   - target: Where the work goes, and whether it may be done twice.
///   - coordinator: What is shared with other requests.
///   - clock: What measures the deadline and the history.
///   - waiting: Called when a retry begins to be waited for, with the attempt that failed, its reason set, and with how long the
///     wait is to be: nil for as long as the target is not reachable. It is for telling of it, and must not block.
///   - isolation: Where this runs; the caller's own unless told otherwise.
///   - operation: The work, called once for each attempt with its number, beginning with 1. It runs in a child task, is cancelled at
///     the deadline, and has to end when it is cancelled: this returns only then. An error that is no ``RetryableError``, and that
///     the policy's classifier does not know, is not retried.
/// - Returns: What the work returned, with every attempt.
/// - Throws: ``RetryError``, with every attempt.
public func withRetry<Value: Sendable>(
    policy: ReachabilityRetryPolicy = .standard,
    target: RetryTarget,
    coordinator: RetryCoordinator,
    clock: some Clock<Duration> = ContinuousClock(),
    waiting: (@Sendable (_ after: RetryAttempt, _ pause: Duration?) -> Void)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    operation: @escaping @Sendable (_ attempt: Int) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    let run = RetryRun.make(
        policy: policy,
        target: target,
        coordinator: coordinator,
        clock: clock,
        waiting: waiting,
        operation: operation
    )
    return try run.outcome(after: await run.end())
}
