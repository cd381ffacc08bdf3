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
