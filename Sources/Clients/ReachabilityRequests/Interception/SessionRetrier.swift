public import ReachabilityRetry

/// A retrier with Alamofire 5's signature: it is told the session, and calls a completion. Without a ``Session`` it retries nothing.
public protocol SessionRetrier: RequestRetrier {
    /// Calls `completion` with what is to be done. Only the first call counts. Until it is called the request waits, unless it is
    /// cancelled.
    func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

extension SessionRetrier {
    /// Asks with the session that sends, and waits for the completion.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        await retryInSession(request, dueTo: error)
    }

    func retryInSession(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        guard let session = SessionContext.current?.session else { return .doNotRetry }
        let result = try? await completed { retry(request, for: session, dueTo: error, completion: $0) }
        return result ?? .doNotRetry
    }
}

/// What an ``Alamofire4Retrier`` calls: whether to retry, and after how many seconds.
public typealias RequestRetryCompletion = @Sendable (_ shouldRetry: Bool, _ timeDelay: Double) -> Void

/// A retrier with Alamofire 4's signature.
public protocol Alamofire4Retrier: SessionRetrier {
    /// Calls `completion` with what is to be done, once.
    func should(
        _ manager: Session,
        retry request: FailedRequest,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    )
}

extension Alamofire4Retrier {
    /// Asks in Alamofire 4's form.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        should(session, retry: request, with: error) { shouldRetry, delay in
            completion(shouldRetry ? .retry(afterSeconds: delay) : .doNotRetry)
        }
    }
}

extension RetryResult {
    /// A delay in seconds, as Alamofire has it: at once where it is none or no number, and after a day at most.
    package static func retry(afterSeconds seconds: Double) -> RetryResult {
        seconds > 0 ? .retryWithDelay(.seconds(min(seconds, 86_400))) : .retry
    }
}
