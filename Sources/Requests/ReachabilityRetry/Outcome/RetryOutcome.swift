/// A success, and how it was come by.
public struct RetryOutcome<Value: Sendable>: Sendable {
    /// What the work returned.
    public let value: Value

    /// Every attempt, the successful one last. An HTTP client's last answer that was not to be retried, or no more, comes last with
    /// its ``StatusFailure``.
    public let attempts: [RetryAttempt]

    package init(value: Value, attempts: [RetryAttempt]) {
        self.value = value
        self.attempts = attempts
    }
}
