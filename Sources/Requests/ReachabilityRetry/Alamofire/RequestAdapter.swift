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
