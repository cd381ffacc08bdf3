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

// Who calls these directly, with a session, need not be in a task.

extension Adapter: SessionInterceptor {
    /// Asks the closure.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        session.ask(self, urlRequest, completion)
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
        session.ask(self, request, error, completion)
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
        session.ask(self, request, error, completion)
    }
}

extension Interceptor: SessionInterceptor {
    /// Asks all adapters; the first error ends it.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        session.ask(self, urlRequest, completion)
    }

    /// Asks the retriers until one has an answer.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        session.ask(self, request, error, completion)
    }
}

extension Session {
    fileprivate func ask(
        _ adapter: any RequestAdapter,
        _ request: PlainRequest,
        _ completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        Task {
            await SessionContext.$current.withValue(SessionContext(session: self)) {
                do { completion(.success(try await adapter.adapt(request))) } catch { completion(.failure(error)) }
            }
        }
    }

    fileprivate func ask(
        _ retrier: any RequestRetrier,
        _ request: FailedRequest,
        _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        Task {
            await SessionContext.$current.withValue(SessionContext(session: self)) {
                completion(await retrier.retry(request, dueTo: error))
            }
        }
    }
}
