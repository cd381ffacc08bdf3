import ReachabilityRetry

/// Dates of HTTP (RFC 9110, section 5.6.7) as seconds since 1970.
enum HTTPTime {
    /// Nil for what is none.
    static func seconds(_ text: String) -> Int64? {
        // A date is what Retry-After may be, too; counted from long ago it is its distance from there.
        guard text.contains(" "), let wait = RetryAfter.wait(text, now: 0) else { return nil }
        return wait.components.seconds
    }
}
