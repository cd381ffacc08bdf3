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
