import ReachabilityOutbox

/// What a server's answer means for a request that is kept (RFC 9110, section 15).
struct HTTPStatus {
    let code: Int

    /// Worth another try: timeouts, too many requests, and errors of the server that pass.
    private static let passing: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// - Parameter retryAfter: seconds of the header Retry-After.
    func result(retryAfter: Int?, _ entry: OutboxEntry) -> OutboxResult {
        switch code {
        case 200..<300: .delivered
        case _ where Self.passing.contains(code): .retry(after: retryAfter.map { .seconds($0) })
        // The same key is still being worked on: an earlier attempt of ours, if there was one.
        case 409 where entry.attempts > 1: .retry(after: nil)
        case 100..<600: .rejected(reason: "status \(code)")
        default: .retry(after: nil)
        }
    }
}
