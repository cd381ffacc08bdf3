import LinuxSupport

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

extension StatusFailure {
    /// An answer with these header fields.
    ///
    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - retryAfter: The field Retry-After, if there is one.
    ///   - date: The field Date; where it is missing or wrong, dates are counted from this machine's time.
    package init(status: Int, retryAfter: String?, date: String?) {
        guard let retryAfter else {
            self.init(status: status)
            return
        }
        let here = SystemClock.real.components.seconds
        let now = date.flatMap { HTTPDate.secondsSince1970($0, now: here) } ?? here
        self.init(status: status, retryAfter: RetryAfter.wait(retryAfter, now: now))
    }
}
