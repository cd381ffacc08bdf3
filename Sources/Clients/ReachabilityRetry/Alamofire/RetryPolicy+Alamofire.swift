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
