package import LinuxSupport

/// The record of one attempt, and of the wait after it.
public struct RetryAttempt: Sendable {
    /// The number of the attempt. The first is 1.
    public let number: Int

    /// The time when the attempt began, since `withRetry` was called.
    public let began: Duration
    /// The time when the first byte of the request was written, since `withRetry` was called; nil if nothing was written,
    /// or if the operation is not a request of a client of this package. URLSession does not report it, so it is then the
    /// time when the attempt began.
    public let sent: Duration?
    /// The time when the attempt ended, since `withRetry` was called.
    public let ended: Duration

    /// The error of the attempt; nil if it succeeded.
    public internal(set) var error: (any Error)?

    /// The stage that the request reached; nil if it succeeded, or if its error is never retried.
    public let stage: FailureStage?

    /// The monitor's reachability right after the failure; nil after a success, because it is not queried then.
    public let reachability: HostReachability?

    /// The duration of the wait after the attempt, including the time in the queue of the host; zero after the last
    /// attempt.
    public internal(set) var wait: Duration = .zero

    /// The reason for the wait; nil after the last attempt.
    public internal(set) var reason: RetryReason?
}

/// The reason for a wait before a retry.
public enum RetryReason: String, Hashable, Sendable {
    /// The host was not reachable. The retry waits until the monitor reports that it is.
    case unreachable
    /// The path has changed since the attempt began. The retry does not wait.
    case newPath
    /// The server requested a pause (Retry-After).
    case retryAfter
    /// An advisor reported an obstacle, for example a captive portal. The retry waits until it is over.
    case obstacle
    /// The backoff. A change of the path may end it.
    case backoff
    /// The caller's retrier requested the retry (``RequestRetryOptions/retrier``).
    case retrier
}

/// The result of a retried request: a success, or the last response of an HTTP client that is no longer retried.
public struct RetryOutcome<Value: Sendable>: Sendable {
    /// The value that the operation returned.
    public let value: Value

    /// The reason why a failed response was not retried; nil for a success.
    public let ending: RetryError.Ending?

    /// All attempts, the first one first. The last one is the success, or has the ``StatusFailure`` of the returned
    /// response.
    public let attempts: [RetryAttempt]

    package init(value: Value, attempts: [RetryAttempt], ending: RetryError.Ending? = nil) {
        self.value = value
        self.attempts = attempts
        self.ending = ending
    }

    /// Returns the outcome with the value that the latest attempt has kept.
    package func returning<Kept>(_ kept: Locked<Kept?>) throws(RetryError) -> RetryOutcome<Kept> {
        guard let value = kept.withLock({ $0 }) else {
            throw RetryError(ending: .cancelled, target: .network(isRepeatable: false), attempts: attempts)
        }
        return RetryOutcome<Kept>(value: value, attempts: attempts, ending: ending)
    }
}

/// The error of a request without a success, with its complete history.
public struct RetryError: Error, Sendable {
    /// The reason why no further attempt is made.
    public enum Ending: String, Hashable, Sendable {
        /// The error or status is not one that is retried.
        case notRetryable
        /// The request may have been processed, and must not be repeated.
        case unsafeToRepeat
        /// The maximum number of attempts was reached.
        case attemptsExhausted
        /// The deadline passed, or would pass before the time that the server requested (Retry-After).
        case deadlineExpired
        /// The host's retry budget is used up, because too many requests fail.
        case budgetExhausted
        /// The maximum number of requests already waits for the host.
        case tooManyWaiting
        /// The task was cancelled.
        case cancelled
        /// The coordinator was shut down.
        case shutDown
    }

    /// The reason why no further attempt is made.
    public let ending: Ending

    /// The target of the request.
    public let target: RetryTarget

    /// All attempts, the first one first.
    public let attempts: [RetryAttempt]

    /// The error that Swift callers expect: `CancellationError` if the task was cancelled, otherwise ``lastError``.
    public var underlyingError: (any Error)? { ending == .cancelled ? CancellationError() : lastError }

    /// The error of the last attempt. If the last attempt was cancelled, by the deadline for example, the last error
    /// that is not a cancellation. Nil if no attempt was made.
    public var lastError: (any Error)? {
        let errors = attempts.compactMap(\.error)
        return errors.last { !($0 is CancellationError) } ?? errors.last
    }
}

extension RetryError: CustomStringConvertible {
    /// One sentence for logs: the target, the reason, the number of attempts, and the last error.
    public var description: String {
        let count = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
        let cause = lastError.map { "; last error: \($0)" } ?? ""
        return "cannot complete the request to \(target): \(ending.text) (\(count))\(cause)"
    }
}

extension RetryError.Ending {
    fileprivate var text: String {
        switch self {
        case .notRetryable: "the error is not retryable"
        case .unsafeToRepeat: "the server may have processed it, and it is not safe to repeat"
        case .attemptsExhausted: "the maximum number of attempts was reached"
        case .deadlineExpired: "the deadline passed"
        case .budgetExhausted: "the retry budget of the host is used up"
        case .tooManyWaiting: "too many requests wait for the host"
        case .cancelled: "cancelled"
        case .shutDown: "the coordinator was shut down"
        }
    }
}

extension RetryError {
    /// Creates the error of a request that cannot be attempted, for example because its URL is invalid.
    package init(refused error: any Error, priority: RetryPriority) {
        let attempt = RetryAttempt(1, .zero, .zero, error)
        self.init(ending: .notRetryable, target: .network(isRepeatable: false, priority: priority), attempts: [attempt])
    }
}
