public import NIOPosix
public import ReachabilityRetry

/// No address of a name could be connected to, or the name could not be resolved.
extension NIOConnectionError: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}
