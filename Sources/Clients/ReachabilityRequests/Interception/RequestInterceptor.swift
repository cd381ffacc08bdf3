public import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

/// Receives the adapted request, or an error.
public typealias AdaptCompletion = @Sendable (Result<URLRequest, any Error>) -> Void
/// Receives the decision of a retrier.
public typealias RetryCompletion = @Sendable (RetryResult) -> Void

/// Changes requests before they are sent, their bodies included. It is called before every attempt, on any thread.
///
/// An adapter implements one of the methods. Without any, it changes nothing.
@preconcurrency public protocol RequestAdapter: Sendable {
    /// Calls `completion` with the request to send, or with an error that ends the request, unless a retrier retries it. The request waits
    /// until then, unless it is cancelled. Later calls are ignored.
    func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping AdaptCompletion)

    /// Returns the request to send, in the form of Alamofire 4. By default ``adapt(_:for:completion:)`` calls it. An error ends the
    /// request.
    func adapt(_ urlRequest: URLRequest) throws -> URLRequest

    /// Adapts a request with a known identity. By default it calls ``adapt(_:for:completion:)``.
    func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState, completion: @escaping AdaptCompletion)
}

/// The circumstances of a request that is adapted.
public struct RequestAdapterState: Sendable {
    /// The identity of the request, the same in each attempt.
    public let requestID: UUID
    /// The session of the request.
    public let session: Session

    /// Creates a state.
    public init(requestID: UUID, session: Session) {
        self.requestID = requestID
        self.session = session
    }
}

extension RequestAdapter {
    /// Returns the request unchanged.
    public func adapt(_ urlRequest: URLRequest) throws -> URLRequest { urlRequest }

    /// Calls ``adapt(_:)``.
    public func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping AdaptCompletion) {
        completion(Result { try adapt(urlRequest) })
    }

    /// Calls ``adapt(_:for:completion:)``.
    public func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState, completion: @escaping AdaptCompletion)
    {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// The closure of ``RequestRetrier/should(_:retry:with:completion:)``: whether to retry, and after how many seconds.
public typealias RequestRetryCompletion = @Sendable (_ shouldRetry: Bool, _ timeDelay: Double) -> Void

/// Decides whether a failed request is sent again. It is called on any thread.
///
/// A retrier implements one of the methods. Without any, it retries nothing.
@preconcurrency public protocol RequestRetrier: Sendable {
    /// Calls `completion` with the decision. The request waits until then, unless it is cancelled. Later calls are ignored.
    ///
    /// - Parameters:
    ///   - request: The request. Its `response` and `retryCount` are those of the failed attempt.
    ///   - session: The session of the request.
    ///   - error: The failure, an ``AFError``.
    ///   - completion: Receives the decision.
    func retry(_ request: Request, for session: Session, dueTo error: any Error, completion: @escaping RetryCompletion)

    /// Calls `completion` with the decision, in the form of Alamofire 4. By default ``retry(_:for:dueTo:completion:)`` calls it.
    func should(
        _ manager: Session,
        retry request: Request,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    )
}

/// An adapter and a retrier. By default it changes nothing and retries nothing.
@preconcurrency public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestRetrier {
    /// Decides that the request is not sent again.
    public func should(
        _ manager: Session,
        retry request: Request,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    ) {
        completion(false, 0)
    }

    /// Calls ``should(_:retry:with:completion:)``.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        should(session, retry: request, with: error) { shouldRetry, delay in
            completion(shouldRetry ? delay > 0 ? .retryWithDelay(delay) : .retry : .doNotRetry)
        }
    }
}

/// The decision of a retrier.
public enum RetryResult: Sendable {
    /// Retry at once.
    case retry
    /// Retry after a time in seconds, of at most a day.
    case retryWithDelay(Double)
    /// Call the next retrier. Without one, fail with the unchanged error.
    case doNotRetry
    /// Fail with this error.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// A Boolean value that indicates whether the request is sent again.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// The delay in seconds; nil if the request is sent again at once, or not at all.
    public var delay: Double? { if case .retryWithDelay(let delay) = self { delay } else { nil } }

    /// The delay, of at most a day; nil if the request is sent again at once, or not at all.
    var boundedDelay: Duration? { delay.flatMap { $0 > 0 ? .seconds(min($0, 86_400)) : nil } }

    /// The error of the request; nil for its own.
    public var error: (any Error)? { if case .doNotRetryWithError(let error) = self { error } else { nil } }
}

/// The closure of an adapter.
public typealias AdaptHandler = @Sendable (URLRequest, Session, _ completion: @escaping AdaptCompletion) -> Void

/// The closure of a retrier.
public typealias RetryHandler = @Sendable (Request, Session, any Error, _ completion: @escaping RetryCompletion) -> Void

/// An adapter made of a closure.
public struct Adapter: RequestInterceptor {
    private let adaptHandler: AdaptHandler

    /// Creates an adapter that calls a closure.
    public init(_ adaptHandler: @escaping AdaptHandler) { self.adaptHandler = adaptHandler }

    /// Calls the closure.
    public func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping AdaptCompletion) {
        adaptHandler(urlRequest, session, completion)
    }
}

/// A retrier made of a closure.
public struct Retrier: RequestInterceptor {
    private let retryHandler: RetryHandler

    /// Creates a retrier that calls a closure.
    public init(_ retryHandler: @escaping RetryHandler) { self.retryHandler = retryHandler }

    /// Calls the closure.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        retryHandler(request, session, error, completion)
    }
}

/// Several adapters and retriers as one. All adapters run in order. The first retrier that does not answer ``RetryResult/doNotRetry``
/// decides.
public struct Interceptor: RequestInterceptor {
    /// The adapters in their order.
    public let adapters: [any RequestAdapter]
    /// The retriers in their order.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor, with the adapters and retriers of others behind its own.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Runs all adapters. The first error ends it.
    public func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping AdaptCompletion) {
        adapt(adapters[...], urlRequest, { $0.adapt($1, for: session, completion: $2) }, completion)
    }

    /// Runs all adapters with the identity of the request. The first error ends it.
    public func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState, completion: @escaping AdaptCompletion)
    {
        adapt(adapters[...], urlRequest, { $0.adapt($1, using: state, completion: $2) }, completion)
    }

    private func adapt(
        _ adapters: ArraySlice<any RequestAdapter>,
        _ request: URLRequest,
        _ call: @escaping @Sendable (any RequestAdapter, URLRequest, @escaping AdaptCompletion) -> Void,
        _ completion: @escaping AdaptCompletion
    ) {
        guard let adapter = adapters.first else { return completion(.success(request)) }
        call(adapter, request) { result in
            guard case .success(let request) = result else { return completion(result) }
            adapt(adapters.dropFirst(), request, call, completion)
        }
    }

    /// Calls the retriers until one decides.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        guard let retrier = retriers.first else { return completion(.doNotRetry) }
        retrier.retry(request, for: session, dueTo: error) { result in
            guard case .doNotRetry = result else { return completion(result) }
            Interceptor(retriers: Array(retriers.dropFirst()))
                .retry(request, for: session, dueTo: error, completion: completion)
        }
    }
}

/// Waits for the network if this machine has lost it, see `OfflineRetrier` of ReachabilityRetry.
extension OfflineRetrier: RequestInterceptor {
    /// Waits for the network.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        guard let failure = request.values.withLock({ $0.failure }) else { return completion(.doNotRetry) }
        Task {
            let result = await retry(failure, dueTo: error)
            if case .retry = result { completion(.retry) } else { completion(.doNotRetry) }
        }
    }
}
