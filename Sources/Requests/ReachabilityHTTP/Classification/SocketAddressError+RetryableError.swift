public import NIOCore
public import ReachabilityRetry

/// The name could not be resolved. The error does not tell a name that does not exist from a name service that cannot be
/// reached, and on a machine that is offline both look alike: both are retried.
extension SocketAddressError.UnknownHost: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}
