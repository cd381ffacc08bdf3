/// Retries by the clock, with the limits, delays, methods and statuses of Alamofire's class of this name. Errors are told apart by how far the
/// request got and not by codes of `URLError`: see `docs/alamofire.md`.
/// ``withRetry(policy:target:coordinator:clock:waiting:isolation:operation:)`` does better; this is for code that comes from there.
///
/// | Retry | 1 | 2 | 3 | 4 |
/// |---|---|---|---|---|
/// | Delay, `scale * base^(n - 1)` | 0.5 s | 1 s | 2 s, if the limit allows | 4 s |
///
/// Retried are requests with one of ``methods`` that were answered with one of ``statuses``, or that were not answered.
public struct RetryPolicy: RequestInterceptor {
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

    /// How often a request is retried at most.
    public let retryLimit: Int
    /// By what the delay grows.
    public let base: Int
    /// The first delay.
    public let scale: Duration
    /// What may be retried.
    public let methods: Set<RequestMethod>
    /// Answers that are retried.
    public let statuses: Set<Int>

    /// - Throws: ``RetryPolicyError`` when the limit or the scale is negative or the base less than 2.
    public init(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase base: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale scale: Duration = defaultExponentialBackoffScale,
        retryableMethods methods: Set<RequestMethod> = defaultRetryableMethods,
        retryableStatuses statuses: Set<Int> = defaultRetryableStatuses
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(Double(retryLimit), "the limit of retries", atLeast: 0)
        try RetryPolicyError.check(Double(base), "the base of the backoff", atLeast: 2)
        try RetryPolicyError.check(scale, "the scale of the backoff")
        self.retryLimit = retryLimit
        self.base = base
        self.scale = scale
        self.methods = methods
        self.statuses = statuses
    }

    /// A delay while the limit is not reached and the request is one to retry.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        guard request.retryCount < retryLimit, methods.contains(request.request.method), isRetryable(request.stage)
        else {
            return .doNotRetry
        }
        return .retryWithDelay(delay(beforeRetry: request.retryCount + 1))
    }

    /// The delay before a retry; 1 is the first.
    public func delay(beforeRetry number: Int) -> Duration {
        var delay = scale
        // A day is as good as for ever, and does not overflow.
        for _ in 1..<max(1, number) where delay < .seconds(86400) { delay *= base }
        return delay
    }

    private func isRetryable(_ stage: FailureStage?) -> Bool {
        switch stage {
        case .answered(let status, _): statuses.contains(status)
        case .neverSent, .mayHaveBeenProcessed: true
        case nil: false
        }
    }
}
