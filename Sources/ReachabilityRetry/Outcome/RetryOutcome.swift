/// A success, and how it was come by.
public struct RetryOutcome<Value: Sendable>: Sendable {
    /// What the work returned.
    public let value: Value

    /// Every attempt, the successful one last.
    public let attempts: [RetryAttempt]
}
