/// A request has failed in a way that a retry might help against, but its body has been read from a stream and cannot be sent
/// again: that ends the request. Half a body is never sent.
public struct BodyNotReplayable: RetryableError, CustomStringConvertible {
    /// What the attempt failed with.
    public let cause: any Error

    /// A body that was used up by an attempt that failed with this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// Not retried.
    public var failureStage: FailureStage? { nil }

    /// One sentence: what happened, and what to do.
    public var description: String {
        "the body was read from a stream and cannot be sent again; give a closure that makes the body anew for each attempt;"
            + " the attempt failed with: \(cause)"
    }
}
