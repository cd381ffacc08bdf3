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
