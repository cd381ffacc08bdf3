public import FoundationEssentials
public import ReachabilityRetry

/// Both an adapter and a retrier, with Alamofire 5's signatures. What is not implemented changes nothing and retries nothing.
public protocol SessionInterceptor: SessionAdapter, SessionRetrier, RequestInterceptor {}

extension SessionInterceptor {
    /// The request as it is.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// No retry.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }

    /// Asks with the session that sends, and waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest { try await adaptInSession(request) }

    /// Asks with the session that sends, and waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        await retryInSession(request, dueTo: error)
    }
}

/// Who sends in this task. Adapters and retriers in Alamofire's form are told the session by it, wherever they stand in a list of others.
struct SessionContext: Sendable {
    @TaskLocal static var current: SessionContext?

    let session: Session
    let requestID = UUID()
    /// Knows the answer that was read last.
    var reader: AnswerReader?
}

extension FailedRequest {
    /// The answer; nil if there was none. Its header fields are known only to who asks in the call of the retrier, not later and not from
    /// another queue.
    public var response: ResponseHead? {
        guard let status else { return nil }
        if let head = SessionContext.current?.reader?.latest?.head, head.statusCode == status { return head }
        return ResponseHead(url: request.url, statusCode: status)
    }
}

/// Why an adapter that needs a ``Session`` could not be asked: the request was sent without one.
public struct MissingSession: Error, CustomStringConvertible {
    /// What to do.
    public var description: String {
        "the adapter needs to know the session, and the request was not sent by one; send it with Session.request"
    }
}

/// An adapter with Alamofire 5's signature: it is told the session, and calls a completion.
///
/// It needs a ``Session``: a request that another client sends fails with ``MissingSession``, rather than go without what the adapter adds.
public protocol SessionAdapter: RequestAdapter {
    /// Calls `completion` with the request as it is to be sent, or with an error. Only the first call counts. Until it is called the
    /// request waits, unless it is cancelled.
    func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    )

    /// The same, with what tells requests apart. Unless implemented it is ``adapt(_:for:completion:)``.
    func adapt(
        _ urlRequest: PlainRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    )
}

/// What is known of a request that is adapted.
public struct RequestAdapterState: Sendable {
    /// The same in every attempt of a request, and in no other request.
    public let requestID: UUID
    /// Who sends it.
    public let session: Session

    /// What an adapter is told.
    public init(requestID: UUID, session: Session) {
        self.requestID = requestID
        self.session = session
    }
}

extension SessionAdapter {
    /// Asks without the state.
    public func adapt(
        _ urlRequest: PlainRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }

    /// Asks with the session that sends, and waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest { try await adaptInSession(request) }

    func adaptInSession(_ request: PlainRequest) async throws -> PlainRequest {
        guard let context = SessionContext.current else { throw MissingSession() }
        let state = RequestAdapterState(requestID: context.requestID, session: context.session)
        return try await completed { adapt(request, using: state, completion: $0) }.get()
    }
}

/// A retrier with Alamofire 5's signature: it is told the session, and calls a completion. Without a ``Session`` it retries nothing.
public protocol SessionRetrier: RequestRetrier {
    /// Calls `completion` with what is to be done. Only the first call counts. Until it is called the request waits, unless it is
    /// cancelled.
    func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

extension SessionRetrier {
    /// Asks with the session that sends, and waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        await retryInSession(request, dueTo: error)
    }

    func retryInSession(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        guard let session = SessionContext.current?.session else { return .doNotRetry }
        let result = try? await completed { retry(request, for: session, dueTo: error, completion: $0) }
        return result ?? .doNotRetry
    }
}

/// What an ``Alamofire4Retrier`` calls: whether to retry, and after how many seconds.
public typealias RequestRetryCompletion = @Sendable (_ shouldRetry: Bool, _ timeDelay: Double) -> Void

/// A retrier with Alamofire 4's signature.
public protocol Alamofire4Retrier: SessionRetrier {
    /// Calls `completion` with what is to be done, once.
    func should(
        _ manager: Session,
        retry request: FailedRequest,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    )
}

extension Alamofire4Retrier {
    /// Asks in Alamofire 4's form.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        should(session, retry: request, with: error) { shouldRetry, delay in
            completion(shouldRetry ? .retry(afterSeconds: delay) : .doNotRetry)
        }
    }
}

extension RetryResult {
    /// A delay in seconds, as Alamofire has it: at once where it is none or no number, and after a day at most.
    package static func retry(afterSeconds seconds: Double) -> RetryResult {
        seconds > 0 ? .retryWithDelay(.seconds(min(seconds, 86_400))) : .retry
    }
}

/// What an adapter made of a closure does, in Alamofire 5's form.
public typealias AdaptHandler =
    @Sendable (
        PlainRequest, Session, _ completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) -> Void

/// What a retrier made of a closure does, in Alamofire 5's form.
public typealias RetryHandler =
    @Sendable (
        FailedRequest, Session, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void

extension Adapter {
    /// An adapter whose closure is told the session.
    public init(_ adaptHandler: @escaping AdaptHandler) {
        self.init { request, completion in
            guard let session = SessionContext.current?.session else { return completion(.failure(MissingSession())) }
            adaptHandler(request, session, completion)
        }
    }
}

extension Retrier {
    /// A retrier whose closure is told the session.
    public init(_ retryHandler: @escaping RetryHandler) {
        self.init { request, error, completion in
            guard let session = SessionContext.current?.session else { return completion(.doNotRetry) }
            retryHandler(request, session, error, completion)
        }
    }
}

extension Interceptor {
    /// One of closures.
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        self.init(adapters: [Adapter(adaptHandler)], retriers: [Retrier(retryHandler)])
    }

    /// An adapter and a retrier, and interceptors behind them.
    public init(
        adapter: any RequestAdapter,
        retrier: any RequestRetrier,
        interceptors: [any RequestInterceptor] = []
    ) {
        self.init(adapters: [adapter], retriers: [retrier], interceptors: interceptors)
    }
}

// Who calls these directly, with a session, need not be in a task. What has a completion is asked at once, all else in a task.

extension Adapter: SessionInterceptor {
    /// Asks the closure.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        session.lead { handler(urlRequest, completion) }
    }
}

extension Retrier: SessionInterceptor {
    /// Asks the closure.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        session.lead { handler(request, error, completion) }
    }
}

extension OfflineRetrier: SessionInterceptor {
    /// Waits for the network.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        session.lead { Task { completion(await retry(request, dueTo: error)) } }
    }
}

extension Interceptor: SessionInterceptor {
    /// Asks all adapters; the first error ends it.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        session.ask(adapters[...], urlRequest, completion)
    }

    /// Asks the retriers until one has an answer.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        session.ask(retriers[...], request, error, completion)
    }
}

extension Session {
    /// Does something as who sends.
    fileprivate func lead(_ body: () -> Void) {
        SessionContext.$current.withValue(SessionContext(session: self), operation: body)
    }

    fileprivate func ask(
        _ adapters: ArraySlice<any RequestAdapter>,
        _ request: PlainRequest,
        _ completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        guard let adapter = adapters.first else { return completion(.success(request)) }
        let goOn: @Sendable (Result<PlainRequest, any Error>) -> Void = { [self] result in
            guard case .success(let request) = result else { return completion(result) }
            ask(adapters.dropFirst(), request, completion)
        }
        if let adapter = adapter as? any SessionAdapter { return adapter.adapt(request, for: self, completion: goOn) }
        lead { Task { do { goOn(.success(try await adapter.adapt(request))) } catch { goOn(.failure(error)) } } }
    }

    fileprivate func ask(
        _ retriers: ArraySlice<any RequestRetrier>,
        _ request: FailedRequest,
        _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier = retriers.first else { return completion(.doNotRetry) }
        let goOn: @Sendable (RetryResult) -> Void = { [self] result in
            guard case .doNotRetry = result else { return completion(result) }
            ask(retriers.dropFirst(), request, error, completion)
        }
        if let retrier = retrier as? any SessionRetrier {
            return retrier.retry(request, for: self, dueTo: error, completion: goOn)
        }
        lead { Task { goOn(await retrier.retry(request, dueTo: error)) } }
    }
}

extension RequestAdapter where Self == Adapter {
    /// An adapter made of a closure.
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// A retrier made of a closure.
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
    /// One of closures.
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// An adapter and a retrier, and interceptors behind them.
    public static func interceptor(
        adapter: any RequestAdapter,
        retrier: any RequestRetrier,
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier, interceptors: interceptors)
    }

    /// Several as one.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}
