import ReachabilityRequests
public import ReachabilityRetry

extension RetryResult {
    /// Retry after so many seconds.
    public static func retryWithDelay(_ seconds: Double) -> RetryResult { .retry(afterSeconds: seconds) }

    /// Whether the request is to be sent again.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// After how many seconds it is to be sent again; nil where it is at once, or never.
    public var delay: Double? { if case .retryWithDelay(let delay) = self { delay / .seconds(1) } else { nil } }

    /// What the request is to fail with; nil for its own error.
    public var error: (any Error)? { if case .doNotRetryWithError(let error) = self { error } else { nil } }
}
