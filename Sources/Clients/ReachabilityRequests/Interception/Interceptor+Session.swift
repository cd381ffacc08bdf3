public import ReachabilityRetry

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
        session.lead { adapt(urlRequest, completion: completion) }
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
        session.lead { retry(request, dueTo: error, completion: completion) }
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
