/// Who goes first when several retries wait for the same host. Among equals, who failed first is retried first.
public enum RetryPriority: Int, CaseIterable, Comparable, Hashable, Sendable {
    /// Goes when nobody else waits.
    case low
    /// What most work is.
    case normal
    /// Goes before all others.
    case high

    /// Whether one goes after the other.
    public static func < (one: RetryPriority, other: RetryPriority) -> Bool { one.rawValue < other.rawValue }
}
