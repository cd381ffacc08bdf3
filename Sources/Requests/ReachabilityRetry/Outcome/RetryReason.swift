/// What a retry waited for.
public enum RetryReason: String, Hashable, Sendable {
    /// The target was not reachable: for the monitor to say that it is.
    case unreachable
    /// The path had changed since the attempt began: for nothing.
    case newPath
    /// The server's Retry-After.
    case retryAfter
    /// Something that an advisor has found, a captive portal for example: for its end.
    case obstacle
    /// The backoff, unless a change of the path cut it short.
    case backoff
}
