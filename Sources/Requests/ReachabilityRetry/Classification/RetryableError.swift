/// An error that tells how far the request got. What clients throw is given this by their adapters; a policy may have a
/// classifier of its own instead.
public protocol RetryableError: Error {
    /// How far the request got; nil where a retry would not help.
    var failureStage: FailureStage? { get }

    /// Whether a connection in use was lost: reset, or closed before the answer was whole. Unless implemented, false.
    var isConnectionLost: Bool { get }
}

extension RetryableError {
    /// Not known to be.
    public var isConnectionLost: Bool { false }
}
