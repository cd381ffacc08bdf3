import LinuxPrimitives
import ReachabilityOutbox
import ReachabilityRetry

/// What a server's answer means for a request that is kept (RFC 9110, section 15; RFC 6585, section 6).
struct HTTPStatus {
    let code: Int

    /// - Parameter retryAfter: the header Retry-After; empty without.
    func result(retryAfter: String, _ entry: OutboxEntry) -> OutboxResult {
        switch code {
        case 200..<300: .delivered
        // Somebody on the way has answered, or the credentials are no longer good: it says nothing of the request.
        case 300..<400: .held(cause: "status \(code), a redirect: a portal, or the URL has moved")
        case 401: .held(cause: "status 401, the server refuses the credentials")
        case 407: .held(cause: "status 407, the proxy asks for credentials")
        case 511: .held(cause: "status 511, a portal asks to log in")
        case _ where RetryPolicy.standardStatuses.contains(code):
            .retry(
                after: RetryAfter.wait(retryAfter, now: SystemClock.real.components.seconds),
                cause: "status \(code)"
            )
        // The same key is still being worked on: an earlier attempt of ours, if there was one.
        case 409 where entry.attempts > 1: .retry(after: nil, cause: "status 409")
        case 100..<600: .rejected(reason: "status \(code)")
        default: .retry(after: nil, cause: "no answer")
        }
    }
}
