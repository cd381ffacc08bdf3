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
