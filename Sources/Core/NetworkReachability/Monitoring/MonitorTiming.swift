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
