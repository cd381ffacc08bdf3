// What need not be said where the kernel can be asked. Without the trait there is nobody to ask unless the caller names one, so
// these do not exist.

extension RetryCoordinator {
    /// What the process shares: ``RetryLimits/standard``, the kernel's verdicts.
    public static let shared = RetryCoordinator()

    /// A coordinator of its own that goes by the kernel's verdicts (``MonitoredVerdicts``).
    ///
    /// - Parameters:
    ///   - limits: What holds for each host.
    ///   - advisor: Who finds out what the kernel cannot know, before a retry is waited for; nil for nobody.
    ///   - observer: Told what happens to every request.
    ///   - clock: What measures the rate of release and the waits.
    ///   - random: What spreads waits.
    public convenience init(
        limits: RetryLimits = .standard,
        advisor: (any RetryAdvisor)? = nil,
        observer: RetryObserver? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.init(
            limits: limits,
            verdicts: MonitoredVerdicts(),
            advisor: advisor,
            observer: observer,
            clock: clock,
            random: random
        )
    }
}

/// Does work that needs the network, and does it again when that makes sense, as
/// ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)`` with ``RetryCoordinator/shared``.
public func withRetry<Value: Sendable>(
    policy: RetryPolicy = .standard,
    target: RetryTarget,
    clock: some Clock<Duration> = ContinuousClock(),
    observer: RetryObserver? = nil,
    isolation: isolated (any Actor)? = #isolation,
    operation: @escaping @Sendable (_ attempt: Int) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    // Not by way of the other: whoever waits would have one frame more on its stack.
    let run = makeRun(policy, target, .shared, clock, observer, operation)
    return try run.outcome(after: await run.end())
}

extension RequestRetryOptions {
    /// Settings, each with its default, and ``RetryCoordinator/shared``.
    public init(
        adapter: (any RequestAdapter)? = nil,
        retrier: (any RequestRetrier)? = nil,
        validate: RequestRetryOptions.Validation? = nil,
        redirects: RedirectRule? = nil,
        attemptTimeout: Duration? = nil,
        connectTimeout: Duration? = .seconds(10),
        host: String? = nil,
        priority: RetryPriority = .normal,
        idempotency: IdempotencyKeys = .given(),
        observer: RetryObserver? = nil,
        tracer: (any RequestTracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            adapter: adapter,
            retrier: retrier,
            validate: validate,
            redirects: redirects,
            attemptTimeout: attemptTimeout,
            connectTimeout: connectTimeout,
            host: host,
            priority: priority,
            coordinator: .shared,
            idempotency: idempotency,
            observer: observer,
            tracer: tracer,
            clock: clock
        )
    }
}

extension RetrySettings {
    /// A policy, and ``RequestRetryOptions`` with each setting's default.
    public init(policy: RetryPolicy = .standard) {
        self.init(policy: policy, options: RequestRetryOptions())
    }
}

extension OfflineRetrier {
    /// One that goes by the kernel's verdicts (``MonitoredVerdicts``).
    ///
    /// - Parameters:
    ///   - host: Whose reachability is waited for; nil for the network at large.
    ///   - maximumWait: How long to wait for it.
    ///   - clock: What measures the wait.
    ///   - isOfflineError: Whether a failure means offline; false leaves it to the next retrier.
    /// - Throws: ``RetryPolicyError`` when the wait is negative.
    public convenience init(
        host: String? = nil,
        maximumWait: Duration = defaultWait,
        clock: some Clock<Duration> = ContinuousClock(),
        isOfflineError: @escaping OfflineCheck = defaultIsOfflineError
    ) throws(RetryPolicyError) {
        try self.init(
            host: host,
            maximumWait: maximumWait,
            verdicts: MonitoredVerdicts(),
            clock: clock,
            isOfflineError: isOfflineError
        )
    }
}
