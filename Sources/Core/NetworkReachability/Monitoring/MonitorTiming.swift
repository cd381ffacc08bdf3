/// What a monitor waits for.
enum MonitorTimer: Hashable, Sendable {
    /// One more evaluation when it has been quiet for a while.
    case trailing
    /// A route expires.
    case expiry
    /// Listening is tried again.
    case retry
    /// A change has lasted for as long as a subscription wants.
    case settled(ObjectIdentifier, TargetRecord.ID)
    /// A subscription has waited long enough for the name of its host.
    case nameWait(ObjectIdentifier, TargetRecord.ID)
    /// A target's status has not changed for long enough.
    case flappingEnd(TargetRecord.ID)
}

/// The monitor's few numbers, each with its reason.
enum MonitorTiming {
    /// After it has been quiet for so long, one more evaluation: a notification can come before the state it announces, and the
    /// barrier against that is inferred from the kernel's locking, not promised by it.
    static let trailingEvaluation = Duration.milliseconds(200)

    /// So many targets are evaluated before others get a turn on the queue: some milliseconds.
    static let evaluationLimit = 256

    /// Until netlink is tried again after it was denied: 0.1, 0.2, 0.4 ... 30 s.
    static func retryDelay(afterFailures failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100 << min(failures, 10)))
    }

    /// Added to the lifetime of a route, whose clock ticks in hundredths of a second.
    static let lifetimeSlack = Duration.milliseconds(15)

    /// Less sleep than this is the two clocks being read one after the other.
    static let shortestSleep = Duration.milliseconds(10)
}
