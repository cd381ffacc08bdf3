/// A retrier made of a closure, in Alamofire's form.
public struct Retrier: CompletionRequestRetrier {
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
}
