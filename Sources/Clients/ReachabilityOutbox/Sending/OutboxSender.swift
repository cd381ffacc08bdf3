/// Sends requests for an outbox.
public protocol OutboxSender: Sendable {
    /// Sends a request once, and judges the answer. It is not called again for the same origin before it returns.
    ///
    /// When the outbox is told to end, what is being sent may go on for ``OutboxOptions/drainLimit``; then its task is
    /// cancelled. A sender must end then, with ``OutboxResult/retry(after:cause:)`` if it does not know.
    func send(_ delivery: OutboxDelivery) async -> OutboxResult
}

/// What sending a request came to.
public enum OutboxResult: Hashable, Sendable {
    /// The server has done it: it is deleted.
    case delivered
    /// Not yet, or not known: it stays the next for its origin. `after` is how long the server asked to be left alone
    /// (Retry-After, RFC 9110 section 10.2.3), capped at ``OutboxOptions/maximumRetryAfter``; nil leaves it to
    /// ``OutboxOptions/backoff``. The cause is kept, shown and logged: it must have no secrets.
    case retry(after: Duration?, cause: String? = nil)
    /// It was no attempt, and is not counted as one: there is nothing to send with, a portal or a proxy has answered, or the
    /// credentials must be renewed. It stays the next for its origin until that is set right or it expires. The cause must
    /// have no secrets.
    case held(cause: String)
    /// The server will never do it: it becomes a dead letter. The reason is kept, shown and logged: it must have no secrets.
    case rejected(reason: String)
}

/// A request that is to be sent now.
public struct OutboxDelivery: Sendable {
    /// The request, with the header `Idempotency-Key` among its headers.
    public let request: OutboxRequest
    /// What the outbox knows of it; ``OutboxEntry/attempts`` counts this one.
    public let entry: OutboxEntry
    /// Whether it is sent to show whether the monitor is right, which says that there is no path.
    package var isProbe = false
}

extension OutboxDelivery: CustomStringConvertible {
    /// What ``OutboxEntry`` tells.
    public var description: String { entry.description }
}
