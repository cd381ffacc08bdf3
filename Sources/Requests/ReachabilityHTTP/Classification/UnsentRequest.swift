public import ReachabilityRetry

/// An attempt that failed before a byte of it was sent, although its error alone does not tell.
public struct UnsentRequest: RetryableError, CustomStringConvertible {
    /// What the attempt failed with.
    public let cause: any Error

    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// One sentence.
    public var description: String { "failed before it was sent: \(cause)" }
}
