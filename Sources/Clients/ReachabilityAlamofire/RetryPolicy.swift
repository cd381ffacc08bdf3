public import ReachabilityRequests

/// Alamofire's policy as an interceptor. It retries some methods after some statuses and after errors of the network, with an exponential
/// backoff. The session's own policy (`Session.policy`) decides first. Without one, this policy alone decides.
///
/// The codes that are retried by default are those of all errors after which a request can be sent again.
public final class RetryPolicy: RequestInterceptor {
    /// The default maximum number of retries: 2.
    public static let defaultRetryLimit: UInt = 2
    /// The default base of the exponential backoff: 2.
    public static let defaultExponentialBackoffBase: UInt = 2
    /// Half a second.
    public static let defaultExponentialBackoffScale = 0.5
    /// DELETE, GET, HEAD, OPTIONS, PUT, TRACE
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]
    /// The statuses that are retried by default: 408, 500, 502, 503 and 504.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The codes of `URLError` that are retried by default: badServerResponse, cannotConnectToHost, cannotFindHost, dnsLookupFailed,
    /// networkConnectionLost, notConnectedToInternet and timedOut.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .badServerResponse, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .networkConnectionLost,
        .notConnectedToInternet, .timedOut,
    ]

    /// The maximum number of retries.
    public let retryLimit: UInt
    /// The factor by which each delay exceeds the previous one.
    public let exponentialBackoffBase: UInt
    /// The first delay, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods of the requests that may be repeated.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The statuses of the answers that are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The failures of the network that are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>

    /// Creates a policy. A base of less than 2 ends the process, as in Alamofire.
    public init(
        retryLimit: UInt = defaultRetryLimit,
        exponentialBackoffBase: UInt = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = defaultRetryableURLErrorCodes
    ) {
        precondition(exponentialBackoffBase >= 2, "the base of the backoff must be 2 or more")
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = exponentialBackoffBase
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
    }

    /// Retries after a delay, if the limit is not reached and ``shouldRetry(request:dueTo:)`` returns true.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let isRetried = request.retryCount < retryLimit && shouldRetry(request: request, dueTo: error)
        var delay = exponentialBackoffScale
        for _ in 0..<min(request.retryCount, 64) { delay *= Double(exponentialBackoffBase) }
        completion(isRetried ? .retryWithDelay(delay) : .doNotRetry)
    }

    /// Returns whether a request may be retried, without regard to the limit.
    public func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        return retryableURLErrorCodes.contains(URLError.Code(error))
    }
}

/// A retry policy for lost connections alone: they were reset, or closed before the answer was complete.
public final class ConnectionLostRetryPolicy: RequestInterceptor {
    private let policy: RetryPolicy

    /// Creates a policy. A base of less than 2 ends the process, as in Alamofire.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) {
        policy = RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: [],
            retryableURLErrorCodes: [.networkConnectionLost]
        )
    }

    /// The maximum number of retries.
    public var retryLimit: UInt { policy.retryLimit }
    /// The factor by which each delay exceeds the previous one.
    public var exponentialBackoffBase: UInt { policy.exponentialBackoffBase }
    /// The first delay, in seconds.
    public var exponentialBackoffScale: Double { policy.exponentialBackoffScale }
    /// The methods of the requests that may be repeated.
    public var retryableHTTPMethods: Set<HTTPMethod> { policy.retryableHTTPMethods }
    /// No answer is retried.
    public var retryableHTTPStatusCodes: Set<Int> { policy.retryableHTTPStatusCodes }
    /// The codes that are retried: only networkConnectionLost.
    public var retryableURLErrorCodes: Set<URLError.Code> { policy.retryableURLErrorCodes }

    /// Applies the policy.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        policy.retry(request, for: session, dueTo: error, completion: completion)
    }
}

extension RequestRetrier where Self == RetryPolicy {
    /// A policy with the default values.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// Creates a retry policy.
    public static func retryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableURLErrorCodes: retryableURLErrorCodes
        )
    }
}

extension RequestRetrier where Self == ConnectionLostRetryPolicy {
    /// A policy with the default values.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// Creates a retry policy for lost connections.
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
