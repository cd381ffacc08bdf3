import LinuxSupport
import ReachabilityRetry

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

/// What happened to a request, for whoever runs the outbox. What is thrown away or given up is told before it is: a process that is
/// killed in between tells it twice.
public enum OutboxEvent: Hashable, Sendable {
    /// The server has done it.
    case delivered(OutboxEntry)
    /// It could not be delivered, and stays; ``OutboxEntry/lastError`` says why.
    case postponed(OutboxEntry)
    /// It was no attempt, and it stays (``OutboxResult/held(cause:)``); ``OutboxEntry/lastError`` says why.
    case held(OutboxEntry)
    /// It is given up, and becomes a dead letter.
    case rejected(OutboxEntry, reason: String)
    /// Its time was over before it was delivered; it is deleted.
    case expired(OutboxEntry)
    /// It makes room for another, and is deleted.
    case dropped(OutboxEntry)
    /// ``Outbox/flush(sender:coordinator:report:)`` leaves so many requests of an origin alone.
    case skipped(origin: String, count: Int, OutboxSkip)
}

/// Why nothing is sent to an origin now.
public enum OutboxSkip: Hashable, Sendable {
    /// Its host is not reachable; `reason` says why, where that is known.
    case notReachable(reason: String?)
    /// Its server asked to be left alone until then: time since 1970-01-01T00:00:00Z.
    case until(Duration)
    /// The one before them was not delivered, and they keep their order.
    case behind(OutboxEntry.ID)
}

extension OutboxResult {
    private static let redirect = "a redirect: a portal, or the URL has moved"

    /// Whether a redirect holds the request. It concerns the URL, not the origin.
    var isRedirect: Bool { if case .held(let cause) = self { cause.hasSuffix(Self.redirect) } else { false } }

    /// What a server's answer means for a request that is kept (RFC 9110, section 15; RFC 6585, section 6). Only 2xx deletes.
    ///
    /// | Status | Meaning |
    /// |---|---|
    /// | 2xx | delivered |
    /// | 3xx, 401, 407, 511 | held: somebody on the way has answered, or the credentials are no longer good |
    /// | 408, 425, 429, 500, 502, 503, 504, and 409 from the second attempt on | tried again |
    /// | others | rejected |
    ///
    /// - Parameters:
    ///   - status: The status code; what is none is no answer.
    ///   - retryAfter: The value of the header Retry-After; nil without.
    ///   - attempts: How often it was sent, this time included (``OutboxEntry/attempts``).
    public init(status: Int, retryAfter: String?, attempts: Int) {
        self =
            switch status {
            case 200..<300: .delivered
            // Somebody on the way has answered, or the credentials are no longer good: it says nothing of the request.
            case 300..<400: .held(cause: "status \(status), \(Self.redirect)")
            case 401: .held(cause: "status 401, the server refuses the credentials")
            case 407: .held(cause: "status 407, the proxy asks for credentials")
            case 511: .held(cause: "status 511, a portal asks to log in")
            case _ where RetryPolicy.standardStatuses.contains(status):
                .retry(
                    after: retryAfter.flatMap { RetryAfter.wait($0, now: SystemClock.real.components.seconds) },
                    cause: "status \(status)"
                )
            // The same key is still being worked on: an earlier attempt of ours, if there was one.
            case 409 where attempts > 1: .retry(after: nil, cause: "status 409")
            case 100..<600: .rejected(reason: "status \(status)")
            default: .retry(after: nil, cause: "no answer")
            }
    }
}
