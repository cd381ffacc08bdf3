/// What a retry waited for.
public enum RetryReason: String, Hashable, Sendable {
    /// The target was not reachable: for the monitor to say that it is.
    case unreachable
    /// The path had changed since the attempt began: for nothing.
    case newPath
    /// The server's Retry-After.
    case retryAfter
    /// The backoff, unless a change of the path cut it short.
    case backoff
}
