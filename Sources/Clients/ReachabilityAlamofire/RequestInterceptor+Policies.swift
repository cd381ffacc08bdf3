public import ReachabilityRequests
public import ReachabilityRetry

extension ReachabilityRetry.RequestRetrier where Self == RetryPolicy {
    /// A policy with each number's default.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// A policy.
    public static func retryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes
        )
    }
}

extension ReachabilityRetry.RequestRetrier where Self == ConnectionLostRetryPolicy {
    /// A policy with each number's default.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// A policy.
    public static func connectionLostRetryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) -> ConnectionLostRetryPolicy {
        ConnectionLostRetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods
        )
    }
}

extension RetryResult {
    /// Retry after so many seconds.
    public static func retryWithDelay(_ seconds: Double) -> RetryResult { .retry(afterSeconds: seconds) }

    /// Whether the request is to be sent again.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// After how many seconds it is to be sent again; nil where it is at once, or never.
    public var delay: Double? { if case .retryWithDelay(let delay) = self { delay / .seconds(1) } else { nil } }

    /// What the request is to fail with; nil for its own error.
    public var error: (any Error)? { if case .doNotRetryWithError(let error) = self { error } else { nil } }
}
