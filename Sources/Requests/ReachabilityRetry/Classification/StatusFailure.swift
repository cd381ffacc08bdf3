/// An answer that is a failure.
public struct StatusFailure: RetryableError, Hashable {
    /// The status, 100 to 599.
    public let status: Int

    /// How long the server asks to wait before a retry; nil where it does not ask.
    public let retryAfter: Duration?

    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - retryAfter: What its Retry-After asks for, see ``RetryAfter``.
    public init(status: Int, retryAfter: Duration? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Answered, with this status.
    public var failureStage: FailureStage? { .answered(status: status, retryAfter: retryAfter) }
}

extension StatusFailure: CustomStringConvertible {
    /// For example `the server answered with 503`.
    public var description: String { "the server answered with \(status)" }
}
