/// An adapter made of a closure, in Alamofire's form.
public struct Adapter: CompletionRequestAdapter {
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
}
