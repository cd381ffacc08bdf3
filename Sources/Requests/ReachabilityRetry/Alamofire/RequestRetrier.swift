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
