/// Both an adapter and a retrier. What is not implemented changes nothing and retries nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// The request as it is.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest { request }

    /// No retry.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult { .doNotRetry }
}
