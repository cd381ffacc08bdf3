public import ReachabilityRetry

/// The answer had begun, and what reads it failed in a way that says of some other request that it was never sent.
public struct BrokenAnswer: RetryableError, CustomStringConvertible {
    /// What reading it failed with.
    public let cause: any Error

    /// May have been processed: there was an answer.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }

    /// What its cause says.
    public var isConnectionLost: Bool { (cause as? any RetryableError)?.isConnectionLost ?? false }

    /// One sentence.
    public var description: String { "the answer could not be read to its end: \(cause)" }
}
