@_exported public import NetworkReachability
@_exported public import ReachabilityRequests

@_exported public import typealias AlamofireFoundationNames.HTTPCookie
@_exported public import typealias AlamofireFoundationNames.HTTPCookiePropertyKey
@_exported public import typealias AlamofireFoundationNames.HTTPCookieStorage
@_exported public import typealias AlamofireFoundationNames.HTTPURLResponse
@_exported public import typealias AlamofireFoundationNames.InputStream
@_exported public import typealias AlamofireFoundationNames.Progress
@_exported public import typealias AlamofireFoundationNames.URLCache
@_exported public import typealias AlamofireFoundationNames.URLCredential
@_exported public import typealias AlamofireFoundationNames.URLRequest
@_exported public import typealias AlamofireFoundationNames.URLSessionConfiguration
@_exported public import typealias AlamofireFoundationNames.URLSessionTask
@_exported public import typealias AlamofireFoundationNames.URLSessionTaskMetrics

// For code that was written for Alamofire, and imports this module in its place.

/// The session of Alamofire 4.
public typealias SessionManager = Session

/// The closure that an ``Alamofire4Retrier`` calls: whether to retry, and after how many seconds.
public typealias RequestRetryCompletion = @Sendable (_ shouldRetry: Bool, _ timeDelay: Double) -> Void

/// An adapter with Alamofire 4's signature.
public protocol Alamofire4Adapter: RequestAdapter {
    /// The request to send. An error ends the request.
    func adapt(_ urlRequest: URLRequest) throws -> URLRequest
}

extension Alamofire4Adapter {
    /// Asks in Alamofire 4's form.
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { try adapt(urlRequest) })
    }
}

/// A retrier with Alamofire 4's signature.
public protocol Alamofire4Retrier: RequestRetrier {
    /// Calls `completion` once with the decision.
    func should(
        _ manager: Session,
        retry request: Request,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    )
}

extension Alamofire4Retrier {
    /// Asks in Alamofire 4's form.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        should(session, retry: request, with: error) { shouldRetry, delay in
            completion(shouldRetry ? delay > 0 ? .retryWithDelay(delay) : .retry : .doNotRetry)
        }
    }
}
