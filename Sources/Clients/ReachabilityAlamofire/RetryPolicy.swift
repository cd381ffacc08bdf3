public import ReachabilityRequests

/// Alamofire's policy as an interceptor. It retries some methods after some statuses and after errors of the network, with an exponential
/// backoff. The session's own policy (`Session.policy`) is asked first; without one, this policy alone decides.
///
/// The codes that are retried by default are those of all errors after which a request can be sent again.
public final class RetryPolicy: RequestInterceptor {
    /// 2
    public static let defaultRetryLimit: UInt = 2
    /// 2
    public static let defaultExponentialBackoffBase: UInt = 2
    /// Half a second.
    public static let defaultExponentialBackoffScale = 0.5
    /// DELETE, GET, HEAD, OPTIONS, PUT, TRACE
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]
    /// 408, 500, 502, 503, 504
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// badServerResponse, cannotConnectToHost, cannotFindHost, dnsLookupFailed, networkConnectionLost, notConnectedToInternet, timedOut
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .badServerResponse, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .networkConnectionLost,
        .notConnectedToInternet, .timedOut,
    ]

    /// How often a request is retried at most.
    public let retryLimit: UInt
    /// By what the delay grows.
    public let exponentialBackoffBase: UInt
    /// The first delay, in seconds.
    public let exponentialBackoffScale: Double
    /// The requests that may be repeated.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// Answers that are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The failures of the network that are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>

    /// A policy. It ends the process where the base is less than 2, as there.
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

    /// A delay while the limit is not reached and the request is one to retry.
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

    /// Returns whether a request is one to retry, however often it has been.
    public func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        return retryableURLErrorCodes.contains(URLError.Code(error))
    }
}

/// The same for lost connections alone: reset, or closed before the answer was whole.
public final class ConnectionLostRetryPolicy: RequestInterceptor {
    private let policy: RetryPolicy

    /// A policy. It ends the process where the base is less than 2, as there.
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

    /// How often a request is retried at most.
    public var retryLimit: UInt { policy.retryLimit }
    /// By what the delay grows.
    public var exponentialBackoffBase: UInt { policy.exponentialBackoffBase }
    /// The first delay, in seconds.
    public var exponentialBackoffScale: Double { policy.exponentialBackoffScale }
    /// The requests that may be repeated.
    public var retryableHTTPMethods: Set<HTTPMethod> { policy.retryableHTTPMethods }
    /// No answer is retried.
    public var retryableHTTPStatusCodes: Set<Int> { policy.retryableHTTPStatusCodes }
    /// networkConnectionLost
    public var retryableURLErrorCodes: Set<URLError.Code> { policy.retryableURLErrorCodes }

    /// What ``RetryPolicy`` says, where the connection was lost.
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
    /// A policy with each number's default.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// A policy.
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
