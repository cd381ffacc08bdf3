/// An error that tells how far the request got. What clients throw is given this by their adapters; a policy may have a
/// classifier of its own instead.
public protocol RetryableError: Error {
    /// How far the request got; nil where a retry would not help.
    var failureStage: FailureStage? { get }
}
