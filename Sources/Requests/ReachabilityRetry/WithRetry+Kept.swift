import LinuxPrimitives

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
    operation: @escaping @Sendable () async throws -> Value
) async throws(RetryError) -> Value {
    var work = RetryWork<Value>(policy: policy, waitsFirst: policy.waitsFirst, observer: observer) { _ in
        do { return .kept(try await operation(), isGood: false) } catch { return .failed(error) }
    }
    work.isCharged = false
    let run = RetryRun.make(work, at: target, coordinator, on: Timeline(clock))
    return try run.outcome(after: await run.end()).value
}
