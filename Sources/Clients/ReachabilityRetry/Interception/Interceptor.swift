/// Changes requests before they are sent. Called before every attempt.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send. An error ends the request, unless a retrier retries it.
    func adapt(_ request: RequestHead) async throws -> RequestHead
}

/// Decides whether a failed request is sent again.
public protocol RequestRetrier: Sendable {
    /// Returns the decision. The request waits for it.
    func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult
}

/// An adapter and a retrier. By default it changes nothing and retries nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Returns the request unchanged.
    public func adapt(_ request: RequestHead) async throws -> RequestHead { request }

    /// Returns ``RetryResult/doNotRetry``.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult { .doNotRetry }
}

/// An adapter that calls a closure, in Alamofire's form.
public struct Adapter: RequestInterceptor {
    /// Changes a request. It must call the completion once, from any thread, with the request to send or with an error.
    /// The request waits for that call, unless it is cancelled. Further calls are ignored.
    public typealias Handler =
        @Sendable (RequestHead, _ completion: @escaping @Sendable (Result<RequestHead, any Error>) -> Void) -> Void

    package let handler: Handler

    /// Creates an adapter from a closure.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Calls the closure, and waits for its completion.
    public func adapt(_ request: RequestHead) async throws -> RequestHead {
        try await completed { handler(request, $0) }.get()
    }
}

/// A retrier that calls a closure, in Alamofire's form.
public struct Retrier: RequestInterceptor {
    /// Decides about a failure. It must call the completion once, from any thread, with the decision. The request waits
    /// for that call, unless it is cancelled. Further calls are ignored.
    public typealias Handler =
        @Sendable (FailedRequest, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void) -> Void

    package let handler: Handler

    /// Creates a retrier from a closure.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Calls the closure, and waits for its completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let result = try? await completed { handler(request, error, $0) }
        return result ?? .doNotRetry
    }
}

/// An interceptor that combines adapters and retriers. All adapters run one after the other. The first retrier whose
/// result is not ``RetryResult/doNotRetry`` decides.
public struct Interceptor: RequestInterceptor {
    /// The adapters, in the sequence in which they run.
    public let adapters: [any RequestAdapter]

    /// The retriers, in the sequence in which they are called.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - adapters: The first adapters.
    ///   - retriers: The first retriers.
    ///   - interceptors: The adapters and retriers that follow.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Runs all adapters. The first error ends the request.
    public func adapt(_ request: RequestHead) async throws -> RequestHead {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        return request
    }

    /// Calls the retriers one after the other until one decides.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        for retrier in retriers {
            let result = await retrier.retry(request, dueTo: error)
            if case .doNotRetry = result { continue }
            return result
        }
        return .doNotRetry
    }
}

/// Waits for a completion, and returns the value of its first call.
///
/// - Throws: `CancellationError` if the task is cancelled first.
package func completed<Value: Sendable>(_ begin: (@escaping @Sendable (Value) -> Void) -> Void) async throws -> Value {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
    begin { value in
        continuation.yield(value)
        continuation.finish()
    }
    for await value in values { return value }
    throw CancellationError()
}

/// A failed request, as retriers receive it.
public struct FailedRequest: Hashable, Sendable {
    /// The adapted request.
    public let request: RequestHead

    /// The number of retries so far; 0 after the first attempt.
    public let retryCount: Int

    /// The stage that the request reached; nil if the error is not a ``RetryableError``, or is never retried.
    public let stage: FailureStage?

    /// A Boolean value that indicates whether the request has an idempotency key (``RequestRetryOptions/idempotency``),
    /// by which the server recognises a repeated request.
    public let hasIdempotencyKey: Bool

    /// Creates a failed request.
    public init(request: RequestHead, retryCount: Int, stage: FailureStage?) {
        self.init(request: request, retryCount: retryCount, stage: stage, idempotency: .given())
    }

    init(request: RequestHead, retryCount: Int, stage: FailureStage?, idempotency: IdempotencyKeys) {
        self.request = request
        self.retryCount = retryCount
        self.stage = stage
        hasIdempotencyKey = idempotency.hasKey(request)
    }

    /// The status of the response; nil without one.
    public var status: Int? { stage?.status }
}

/// The decision of a ``RequestRetrier``.
public enum RetryResult: Sendable {
    /// Retry immediately.
    case retry
    /// Retry after this duration.
    case retryWithDelay(Duration)
    /// Call the next retrier. The last retrier cannot pass the decision on, and the request fails with the unchanged
    /// error.
    case doNotRetry
    /// Fail with this error.
    case doNotRetryWithError(any Error)
}
