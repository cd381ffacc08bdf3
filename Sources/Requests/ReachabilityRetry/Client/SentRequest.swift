/// An attempt that has reached a server, although its error alone says otherwise: one that was answered with a redirect and failed
/// at a later hop, or that was cut as it was being sent.
public struct SentRequest: RetryableError, CustomStringConvertible {
    /// What the attempt failed with; a ``StatusFailure`` where a later hop answered.
    public let cause: any Error

    /// A request that was sent, and failed with this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// May have been processed; nil where the cause is not one that is retried.
    public var failureStage: FailureStage? {
        (cause as? any RetryableError)?.failureStage == nil ? nil : .mayHaveBeenProcessed
    }

    /// What its cause says.
    public var isConnectionLost: Bool { (cause as? any RetryableError)?.isConnectionLost ?? false }

    /// One sentence.
    public var description: String { "failed after it was sent: \(cause)" }
}
