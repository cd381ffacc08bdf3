/// One attempt: what came of it, and what was waited for after it.
public struct RetryAttempt: Sendable {
    /// 1 is the first.
    public let number: Int

    /// When it began and ended, since `withRetry` was called.
    public let began: Duration
    /// When it ended, since `withRetry` was called.
    public let ended: Duration

    /// The error it failed with; nil if it succeeded.
    public let error: (any Error)?

    /// How far the request got; nil if it succeeded, or if the error is not one that is retried.
    public let stage: FailureStage?

    /// What the monitor said of the target right after a failure; nil after a success, where nobody asks.
    public let verdict: RetryVerdict?

    /// How long was waited after it, the turn in the line of the host included; zero after the last.
    public internal(set) var wait: Duration = .zero

    /// What was waited for; nil after the last.
    public internal(set) var reason: RetryReason?
}
