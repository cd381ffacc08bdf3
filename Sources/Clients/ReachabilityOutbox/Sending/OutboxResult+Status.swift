import LinuxSupport
import ReachabilityRetry

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
