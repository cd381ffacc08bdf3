import Netlink
import ReachabilityOutbox
import ReachabilityRetry

/// What a server's answer means for a request that is kept (RFC 9110, section 15).
struct HTTPStatus {
    let code: Int

    /// Who answered may be somebody on the way (a captive portal, RFC 6585; a proxy) or wants other credentials: it says nothing of the
    /// request, which waits.
    var isFromTheWay: Bool { 300..<400 ~= code || [401, 407, 511].contains(code) }

    /// - Parameter retryAfter: the header Retry-After; empty without.
    func result(retryAfter: String, _ entry: OutboxEntry) -> OutboxResult {
        switch code {
        case 200..<300: .delivered
        case _ where ReachabilityRetryPolicy.standardStatuses.contains(code):
            .retry(after: RetryAfter.wait(retryAfter, now: SystemClock.real.components.seconds))
        case _ where isFromTheWay: .retry(after: nil)
        // The same key is still being worked on: an earlier attempt of ours, if there was one.
        case 409 where entry.attempts > 1: .retry(after: nil)
        case 100..<600: .rejected(reason: "status \(code)")
        default: .retry(after: nil)
        }
    }
}
