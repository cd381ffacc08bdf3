/// One attempt: what came of it, and what was waited for after it.
public struct RetryAttempt: Sendable {
    /// 1 is the first.
    public let number: Int

    /// When it began and ended, since `withRetry` was called.
    public let began: Duration
    /// When it ended, since `withRetry` was called.
    public let ended: Duration

    /// The error it failed with; nil if it succeeded.
    public internal(set) var error: (any Error)?

    /// How far the request got; nil if it succeeded, or if the error is not one that is retried.
    public let stage: FailureStage?

    /// What the monitor said of the target right after a failure; nil after a success, where nobody asks.
    public let verdict: RetryVerdict?

    /// How long was waited after it, the turn in the line of the host included; zero after the last.
    public internal(set) var wait: Duration = .zero

    /// What was waited for; nil after the last.
    public internal(set) var reason: RetryReason?
}

/// What a retry waited for.
public enum RetryReason: String, Hashable, Sendable {
    /// The target was not reachable: for the monitor to say that it is.
    case unreachable
    /// The path had changed since the attempt began: for nothing.
    case newPath
    /// The server's Retry-After.
    case retryAfter
    /// Something that an advisor has found, a captive portal for example: for its end.
    case obstacle
    /// The backoff, unless a change of the path cut it short.
    case backoff
    /// What the caller's retrier asked for (``RequestRetryOptions/retrier``).
    case retrier
}

/// A success, and how it was come by; or the last answer of an HTTP client, which is not retried any more.
public struct RetryOutcome<Value: Sendable>: Sendable {
    /// What the work returned.
    public let value: Value

    /// Why the answer was not retried although it is a failure; nil for a success.
    public let ending: RetryError.Ending?

    /// Every attempt, the successful one last. An HTTP client's last answer that was not to be retried, or no more, comes last with
    /// its ``StatusFailure``.
    public let attempts: [RetryAttempt]

    package init(value: Value, attempts: [RetryAttempt], ending: RetryError.Ending? = nil) {
        self.value = value
        self.attempts = attempts
        self.ending = ending
    }
}
