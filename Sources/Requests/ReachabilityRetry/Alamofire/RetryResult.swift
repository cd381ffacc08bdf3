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
