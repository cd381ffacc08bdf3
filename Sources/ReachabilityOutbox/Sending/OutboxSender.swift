/// Sends requests for an outbox.
public protocol OutboxSender: Sendable {
    /// Sends a request once, and judges the answer. It is not called again for the same host before it returns.
    ///
    /// When the outbox is told to end, what is being sent may go on for ``OutboxOptions/drainLimit``; then its task is
    /// cancelled. A sender must end then, with ``OutboxResult/retry(after:)`` if it does not know.
    func send(_ delivery: OutboxDelivery) async -> OutboxResult
}

/// What sending a request came to.
public enum OutboxResult: Hashable, Sendable {
    /// The server has done it: it is deleted.
    case delivered
    /// Not yet, or not known: it stays the next for its host. `after` is how long the server asked to be left alone
    /// (Retry-After, RFC 9110 section 10.2.3), capped at ``OutboxOptions/maximumRetryAfter``; nil leaves it to
    /// ``OutboxOptions/backoff``.
    case retry(after: Duration?)
    /// The server will never do it: it is deleted. The reason goes to the log: it must have no secrets.
    case rejected(reason: String)
}
