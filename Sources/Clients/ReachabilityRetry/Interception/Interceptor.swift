/// Changes requests before they are sent; it is asked before every attempt.
public protocol RequestAdapter: Sendable {
    /// The request as it is to be sent. An error ends the request.
    func adapt(_ request: PlainRequest) async throws -> PlainRequest
}

/// A ``RequestAdapter`` in Alamofire's form, with a completion to be called once, from anywhere.
public protocol CompletionRequestAdapter: RequestAdapter {
    /// Calls `completion` with the request as it is to be sent, or with an error. Only the first call counts. Until it is called
    /// the request waits, unless it is cancelled.
    func adapt(_ request: PlainRequest, completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void)
}

extension CompletionRequestAdapter {
    /// Waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        try await completed { adapt(request, completion: $0) }.get()
    }
}

/// An adapter made of a closure, in Alamofire's form.
public struct Adapter: CompletionRequestAdapter, RequestInterceptor {
    /// Calls the completion with the request as it is to be sent.
    public typealias Handler =
        @Sendable (PlainRequest, _ completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void) -> Void

    private let handler: Handler

    /// - Parameter handler: Calls its completion once.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Calls the closure.
    public func adapt(
        _ request: PlainRequest,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        handler(request, completion)
    }

    /// Waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        try await completed { handler(request, $0) }.get()
    }
}

/// Waits for a completion to be called, and takes the value of its first call.
///
/// - Throws: `CancellationError` when the task is cancelled before.
package func completed<Value: Sendable>(_ begin: (@escaping @Sendable (Value) -> Void) -> Void) async throws -> Value {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
    begin { value in
        continuation.yield(value)
        continuation.finish()
    }
    for await value in values { return value }
    throw CancellationError()
}

/// Decides whether a failed request is sent again.
public protocol RequestRetrier: Sendable {
    /// What is to be done. It may take its time: until it returns the request waits.
    func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult
}

/// A ``RequestRetrier`` in Alamofire's form, with a completion to be called once, from anywhere.
public protocol CompletionRequestRetrier: RequestRetrier {
    /// Calls `completion` with what is to be done. Only the first call counts. Until it is called the request waits, unless it is
    /// cancelled.
    func retry(
        _ request: FailedRequest,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

extension CompletionRequestRetrier {
    /// Waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let result = try? await completed { retry(request, dueTo: error, completion: $0) }
        return result ?? .doNotRetry
    }
}

/// A retrier made of a closure, in Alamofire's form.
public struct Retrier: CompletionRequestRetrier, RequestInterceptor {
    /// Calls the completion with what is to be done.
    public typealias Handler =
        @Sendable (FailedRequest, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void) -> Void

    private let handler: Handler

    /// - Parameter handler: Calls its completion once.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Calls the closure.
    public func retry(
        _ request: FailedRequest,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        handler(request, error, completion)
    }

    /// Waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let result = try? await completed { handler(request, error, $0) }
        return result ?? .doNotRetry
    }
}

/// A request that has failed, as retriers see it.
public struct FailedRequest: Hashable, Sendable {
    /// The request as it was sent, adapted.
    public let request: PlainRequest

    /// How often it has been retried: 0 after the first attempt.
    public let retryCount: Int

    /// How far it got; nil where the error does not tell.
    public let stage: FailureStage?

    /// Whether the server can know a repetition: it has an idempotency key (``RequestRetryOptions/idempotency``).
    public let hasIdempotencyKey: Bool

    /// A request that has failed.
    public init(request: PlainRequest, retryCount: Int, stage: FailureStage?) {
        self.init(request: request, retryCount: retryCount, stage: stage, idempotency: .given())
    }

    init(request: PlainRequest, retryCount: Int, stage: FailureStage?, idempotency: IdempotencyKeys) {
        self.request = request
        self.retryCount = retryCount
        self.stage = stage
        hasIdempotencyKey = idempotency.hasKey(request)
    }

    /// The status of the answer; nil if there was none.
    public var status: Int? { stage?.status }
}

/// What a ``RequestRetrier`` wants to be done.
public enum RetryResult: Sendable {
    /// Retry at once.
    case retry
    /// Retry after this time.
    case retryWithDelay(Duration)
    /// Ask the next retrier; where there is none, fail with the error as it is.
    case doNotRetry
    /// Fail with this error.
    case doNotRetryWithError(any Error)
}

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
