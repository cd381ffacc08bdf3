import LinuxSupport
import ReachabilityRetry

/// A type that sends the requests of an outbox.
public protocol OutboxSender: Sendable {
    /// Sends a request once, and returns the result. It is not called again for the same origin before it returns.
    ///
    /// When the outbox is cancelled, a call in progress may continue for ``OutboxOptions/drainLimit``. Then its task is
    /// cancelled, and it must return, with ``OutboxResult/retry(after:cause:)`` if the result is unknown.
    func send(_ delivery: OutboxDelivery) async -> OutboxResult
}

/// The result of sending a request.
public enum OutboxResult: Hashable, Sendable {
    /// The server has executed the request. It is deleted.
    case delivered
    /// The request was not executed, or the result is unknown. It stays first of its origin. `after` is the pause that
    /// the server requested (Retry-After, RFC 9110 section 10.2.3), at most ``OutboxOptions/maximumRetryAfter``. If
    /// nil, ``OutboxOptions/backoff`` applies. The cause is stored, listed and logged, and must contain no secrets.
    case retry(after: Duration?, cause: String? = nil)
    /// The send does not count as an attempt, because no sender is available, a portal or a proxy has responded, or the
    /// credentials must be renewed. The request stays first of its origin until the problem is corrected or it expires.
    /// The cause must contain no secrets.
    case held(cause: String)
    /// The server will never execute the request. It becomes a dead letter. The reason is stored, listed and logged,
    /// and must contain no secrets.
    case rejected(reason: String)
}

/// A request to be sent now.
public struct OutboxDelivery: Sendable {
    /// The request, including the header `Idempotency-Key`.
    public let request: OutboxRequest
    /// The entry of the request. ``OutboxEntry/attempts`` includes this attempt.
    public let entry: OutboxEntry
    /// A Boolean value that indicates whether the attempt tests the monitor, which reports that there is no path.
    package var isProbe = false
}

extension OutboxDelivery: CustomStringConvertible {
    /// The description of ``entry``.
    public var description: String { entry.description }
}

/// An event of a request. The removal of a request is reported before it is made. If the process is killed in between,
/// it is reported twice.
public enum OutboxEvent: Hashable, Sendable {
    /// The server has executed the request.
    case delivered(OutboxEntry)
    /// The request could not be delivered, and stays. ``OutboxEntry/lastError`` contains the reason.
    case postponed(OutboxEntry)
    /// The send did not count as an attempt, and the request stays (``OutboxResult/held(cause:)``).
    /// ``OutboxEntry/lastError`` contains the reason.
    case held(OutboxEntry)
    /// The request is rejected, and becomes a dead letter.
    case rejected(OutboxEntry, reason: String)
    /// The request expired before it was delivered, and is deleted.
    case expired(OutboxEntry)
    /// The request is deleted to make space for another one.
    case dropped(OutboxEntry)
    /// ``Outbox/flush(sender:coordinator:report:)`` skips this number of requests of an origin.
    case skipped(origin: String, count: Int, OutboxSkip)
}

/// The reason why nothing is sent to an origin now.
public enum OutboxSkip: Hashable, Sendable {
    /// The host is not reachable. `reason` is nil if it is unknown.
    case notReachable(reason: String?)
    /// The server requested a pause until this time, since 1970-01-01T00:00:00Z.
    case until(Duration)
    /// The request before them was not delivered, and the order is kept.
    case behind(OutboxEntry.ID)
}

extension OutboxResult {
    private static let redirect = "a redirect: a portal, or the URL has moved"

    /// A Boolean value that indicates whether a redirect holds the request. A redirect concerns the URL, not the
    /// origin.
    var isRedirect: Bool { if case .held(let cause) = self { cause.hasSuffix(Self.redirect) } else { false } }

    /// Creates the result that corresponds to a response (RFC 9110, section 15; RFC 6585, section 6). Only 2xx deletes
    /// a request.
    ///
    /// | Status | Result |
    /// |---|---|
    /// | 2xx | delivered |
    /// | 3xx, 401, 407, 511 | held: a proxy or portal has responded, or the credentials are no longer valid |
    /// | 408, 425, 429, 500, 502, 503, 504, and 409 after the first attempt | sent again later |
    /// | others | rejected |
    ///
    /// - Parameters:
    ///   - status: The status code. A value outside 100 to 599 counts as no response.
    ///   - retryAfter: The value of the header Retry-After; nil without it.
    ///   - attempts: The number of attempts, including this one (``OutboxEntry/attempts``).
    public init(status: Int, retryAfter: String?, attempts: Int) {
        self =
            switch status {
            case 200..<300: .delivered
            // A proxy or portal has responded, or the credentials are no longer valid. That reveals nothing about
            // the request.
            case 300..<400: .held(cause: "status \(status), \(Self.redirect)")
            case 401: .held(cause: "status 401, the server refuses the credentials")
            case 407: .held(cause: "status 407, the proxy requires credentials")
            case 511: .held(cause: "status 511, a portal requires a login")
            case _ where RetryPolicy.standardStatuses.contains(status):
                .retry(
                    after: retryAfter.flatMap { RetryAfter.wait($0, now: SystemClock.real.components.seconds) },
                    cause: "status \(status)"
                )
            // The server is still processing the same key from an earlier attempt, if there was one.
            case 409 where attempts > 1: .retry(after: nil, cause: "status 409")
            case 100..<600: .rejected(reason: "status \(status)")
            default: .retry(after: nil, cause: "no answer")
            }
    }
}
