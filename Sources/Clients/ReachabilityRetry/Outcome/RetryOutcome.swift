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

/// Why there is no success, and everything that was tried.
public struct RetryError: Error, Sendable {
    /// What put an end to it.
    public enum Ending: String, Hashable, Sendable {
        /// The error is not one that a retry helps against, or its status not one to retry.
        case notRetryable
        /// It may have been processed, and is not to be done twice.
        case unsafeToRepeat
        /// All attempts were used.
        case attemptsExhausted
        /// The time was up, or would have been before the server wants to be asked again.
        case deadlineExpired
        /// The host's budget for retries is used up: too many fail.
        case budgetExhausted
        /// Too many wait for the host already.
        case tooManyWaiting
        /// The task was cancelled.
        case cancelled
        /// The coordinator was shut down.
        case shutDown
    }

    /// What put an end to it.
    public let ending: Ending

    /// What was to be done.
    public let target: RetryTarget

    /// Every attempt, in order.
    public let attempts: [RetryAttempt]

    /// What Swift expects to be thrown: `CancellationError` where the task was cancelled, else ``lastError``.
    public var underlyingError: (any Error)? { ending == .cancelled ? CancellationError() : lastError }

    /// The last error that says something: that of the last attempt, unless it was cancelled by the deadline; then that of
    /// the one before it. Nil when there was none.
    public var lastError: (any Error)? {
        let errors = attempts.compactMap(\.error)
        return errors.last { !($0 is CancellationError) } ?? errors.last
    }
}

extension RetryError: CustomStringConvertible {
    /// One sentence for logs: the target, what put an end to it, the number of attempts, and the last error.
    public var description: String {
        let count = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
        let cause = lastError.map { "; the last error was: \($0)" } ?? ""
        return "\(target): \(ending.text) after \(count)\(cause)"
    }
}

extension RetryError.Ending {
    fileprivate var text: String {
        switch self {
        case .notRetryable: "failed in a way that a retry does not help against"
        case .unsafeToRepeat: "not repeated, because it may have been done"
        case .attemptsExhausted: "gave up"
        case .deadlineExpired: "the deadline passed"
        case .budgetExhausted: "the budget for retries is used up"
        case .tooManyWaiting: "too many wait for the host"
        case .cancelled: "cancelled"
        case .shutDown: "shut down"
        }
    }
}

extension RetryError {
    /// A request that no attempt can be made with, for its URL is wrong for example: it ends as one that failed at once.
    package init(refused error: any Error, priority: RetryPriority) {
        let attempt = RetryAttempt(1, .zero, .zero, error)
        self.init(ending: .notRetryable, target: .network(isRepeatable: false, priority: priority), attempts: [attempt])
    }
}
