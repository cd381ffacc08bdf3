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
