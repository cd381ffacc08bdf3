/// Several adapters and retriers as one: all adapters in order, each on what the one before it made; and the first retrier that
/// answers something else than ``RetryResult/doNotRetry``.
public struct Interceptor: RequestInterceptor {
    /// The adapters in their order.
    public let adapters: [any RequestAdapter]

    /// The retriers in their order.
    public let retriers: [any RequestRetrier]

    /// - Parameters:
    ///   - adapters: Asked first.
    ///   - retriers: Asked first.
    ///   - interceptors: Asked after them, as both.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Asks all adapters; the first error ends it.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        return request
    }

    /// Asks the retriers until one has an answer.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        for retrier in retriers {
            let result = await retrier.retry(request, dueTo: error)
            if case .doNotRetry = result { continue }
            return result
        }
        return .doNotRetry
    }
}

/// Both an adapter and a retrier. What is not implemented changes nothing and retries nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// The request as it is.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest { request }

    /// No retry.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult { .doNotRetry }
}

/// In Alamofire's form, with completions.
extension RequestInterceptor where Self: CompletionRequestAdapter {
    /// Waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        try await completed { adapt(request, completion: $0) }.get()
    }
}

extension RequestInterceptor where Self: CompletionRequestRetrier {
    /// Waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let result = try? await completed { retry(request, dueTo: error, completion: $0) }
        return result ?? .doNotRetry
    }
}
