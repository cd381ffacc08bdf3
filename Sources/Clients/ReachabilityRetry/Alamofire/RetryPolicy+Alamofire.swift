import LinuxSupport

/// Alamofire's shape of a policy: its numbers make a policy of ours, which then keeps its own rules.
///
/// | Retry | 1 | 2 | 3 | 4 |
/// |---|---|---|---|---|
/// | Delay, `scale * base^(n - 1)`, without jitter | 0.5 s | 1 s | 2 s, if the limit allows | 4 s |
///
/// What differs: methods that are not listed are retried where nothing was sent, or where the server says that it has done nothing; the
/// wait for the network costs no retry; Retry-After is kept; there is a deadline. Errors are told apart by how far the request got and
/// not by codes of `URLError`: see `docs/alamofire.md`.
extension RetryPolicy {
    /// 2
    public static let defaultRetryLimit = 2
    /// 2
    public static let defaultExponentialBackoffBase = 2
    /// Half a second.
    public static let defaultExponentialBackoffScale = Duration.milliseconds(500)
    /// DELETE, GET, HEAD, OPTIONS, PUT, TRACE
    public static let defaultRetryableMethods: Set<RequestMethod> = [.delete, .get, .head, .options, .put, .trace]
    /// 408, 500, 502, 503, 504
    public static let defaultRetryableStatuses: Set<Int> = [408, 500, 502, 503, 504]

    /// A policy with Alamofire's numbers.
    ///
    /// - Parameters:
    ///   - retryLimit: How often a request is retried at most.
    ///   - base: By what the delay grows.
    ///   - scale: The first delay.
    ///   - methods: What may be repeated.
    ///   - statuses: Answers that are retried.
    /// - Throws: ``RetryPolicyError`` when the limit or the scale is negative or the base less than 2.
    public init(
        retryLimit: Int,
        exponentialBackoffBase base: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale scale: Duration = defaultExponentialBackoffScale,
        retryableMethods methods: Set<RequestMethod> = defaultRetryableMethods,
        retryableStatuses statuses: Set<Int> = defaultRetryableStatuses
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(Double(retryLimit), "the limit of retries", atLeast: 0)
        try RetryPolicyError.check(Double(base), "the base of the backoff", atLeast: 2)
        try RetryPolicyError.check(scale, "the scale of the backoff")
        let attempts = retryLimit == .max ? retryLimit : retryLimit + 1
        // A day is as good as for ever, and does not overflow.
        let backoff = try Backoff(base: scale, factor: Double(base), cap: .seconds(86_400), isJittered: false)
        try self.init(
            attempts: attempts,
            attemptsAfterSending: attempts,
            attemptsUnresolved: attempts,
            attemptsRefused: attempts,
            backoff: backoff,
            statuses: statuses,
            methods: methods
        )
    }

    /// How often a request is retried at most.
    public var retryLimit: Int { attempts - 1 }
}

/// As one of several retriers a policy answers by its tables, without the monitor, and by the backoff.
extension RetryPolicy: RequestInterceptor {
    /// A delay while the limit is not reached and the request is one to retry.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let plain = request.request
        let isRepeatable = methods?.contains(plain.method) ?? plain.method.isIdempotent || request.hasIdempotencyKey
        let situation = RetryDecision.Situation(
            stage: request.stage,
            verdict: .unknown,
            attempts: request.retryCount + 1,
            sent: request.stage?.wasSent == true ? request.retryCount + 1 : 0,
            unresolved: 0,
            refused: 0,
            backoffs: request.retryCount
        )
        let target = RetryTarget.network(isRepeatable: isRepeatable)
        let decision = RetryDecision(after: situation, of: target, by: self) { .random(in: 0..<1) }
        guard case .retry(_, let pause, _) = decision else { return .doNotRetry }
        return pause.map { .retryWithDelay($0) } ?? .retry
    }
}

/// ``RetryPolicy`` with Alamofire's numbers for lost connections alone (``RetryableError/isConnectionLost``), as Alamofire's class of this
/// name retries after `URLError.networkConnectionLost` alone: not after a time limit, and not where no connection was made.
public struct ConnectionLostRetryPolicy: RequestInterceptor {
    private let policy: RetryPolicy

    /// - Throws: ``RetryPolicyError`` when the limit or the scale is negative or the base less than 2.
    public init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase base: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale scale: Duration = RetryPolicy.defaultExponentialBackoffScale,
        retryableMethods methods: Set<RequestMethod> = RetryPolicy.defaultRetryableMethods
    ) throws(RetryPolicyError) {
        policy = try RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: base,
            exponentialBackoffScale: scale,
            retryableMethods: methods,
            retryableStatuses: []
        )
    }

    /// What ``RetryPolicy`` says, where the connection was lost.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        guard (error as? any RetryableError)?.isConnectionLost == true else { return .doNotRetry }
        return await policy.retry(request, dueTo: error)
    }
}

/// Waits for the network when a request fails offline, and retries when it is back in time, as Alamofire's class of this name,
/// which does not exist on Linux.
///
/// What is offline is asked of the monitor: error codes on Linux do not tell. A request that was answered is not retried, whatever the
/// monitor says. Unlike there, a request that may have been processed is retried only if its method is idempotent or it has an
/// idempotency key; so is one whose error does not tell.
public final class OfflineRetrier: RequestInterceptor {
    /// Whether a failure means offline, by its error and by what the monitor says right after.
    public typealias OfflineCheck = @Sendable (_ error: any Error, _ verdict: RetryVerdict) -> Bool

    /// The monitor says "not reachable", whatever the error; of a name that is not resolved that is not enough.
    public static let defaultIsOfflineError: OfflineCheck = { _, verdict in verdict.isOffline }

    /// Five seconds.
    public static let defaultWait = Duration.seconds(5)

    private let maximumWait: Duration
    private let host: String?
    private let isOfflineError: OfflineCheck
    private let verdicts: any VerdictSource
    private let timeline: Timeline

    /// - Parameters:
    ///   - host: Whose reachability is waited for; nil for the network at large.
    ///   - maximumWait: How long to wait for it.
    ///   - verdicts: Who says whether it is reachable. The default is the kernel.
    ///   - clock: What measures the wait.
    ///   - isOfflineError: Whether a failure means offline; false leaves it to the next retrier.
    /// - Throws: ``RetryPolicyError`` when the wait is negative.
    public init(
        host: String? = nil,
        maximumWait: Duration = defaultWait,
        verdicts: any VerdictSource = MonitoredVerdicts(),
        clock: some Clock<Duration> = ContinuousClock(),
        isOfflineError: @escaping OfflineCheck = defaultIsOfflineError
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(maximumWait, "the longest wait for the network")
        self.host = host
        self.maximumWait = maximumWait
        self.verdicts = verdicts
        self.isOfflineError = isOfflineError
        timeline = Timeline(clock)
    }

    /// Retry when the network is back within the wait; else the next retrier is asked, and the error stays what it is.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let isRepeatable = request.request.method.isIdempotent || request.hasIdempotencyKey
        let stage = request.stage ?? .mayHaveBeenProcessed
        guard stage.isOfNetwork, stage.maySendAgain(isRepeatable: isRepeatable) else { return .doNotRetry }
        let (news, listener) = AsyncStream.makeStream(of: RetryVerdict.self, bufferingPolicy: .bufferingNewest(1))
        let watch = verdicts.watch(host) { listener.yield($0) }
        defer { withExtendedLifetime(watch) {} }
        let asked = watch.ask()
        guard isOfflineError(error, asked) else { return .doNotRetry }
        let end = timeline.now + maximumWait
        return await withTaskGroup(of: RetryResult.self) { group in
            group.addTask { [timeline] in
                try? await timeline.sleep(until: end)
                return .doNotRetry
            }
            group.addTask {
                for await verdict in news
                where verdict.status == .reachable && verdict.generation >= asked.generation {
                    return .retry
                }
                return .doNotRetry
            }
            defer { group.cancelAll() }
            return await group.next() ?? .doNotRetry
        }
    }
}
