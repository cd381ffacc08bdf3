/// The monitor's few numbers, each with its reason.
enum MonitorTiming {
    /// After a burst, one more look: a notification can come before the state it announces, and the barrier against that is
    /// inferred from the kernel's locking, not promised by it.
    static let trailingLook = Duration.milliseconds(50)

    /// After a removal, before looking: a batch that deletes a route and adds another does so within this most of the time,
    /// and looking at once would take the processor from the process that is about to add.
    static let swapPause = Duration.microseconds(150)

    /// After a removal that takes reachability away, before telling: the rest of a slower batch.
    static let lossPause = Duration.microseconds(850)

    /// However long removals go on, what they took away is told after so many pauses.
    static let pauseLimit = 32

    /// Until netlink is tried again after it was denied: 0.1, 0.2, 0.4 ... 30 s.
    static func retryDelay(afterFailures failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100 << min(failures, 10)))
    }

    /// Added to the lifetime of a route, whose clock ticks in hundredths of a second.
    static let lifetimeSlack = Duration.milliseconds(15)

    /// Less sleep than this is the two clocks being read one after the other.
    static let shortestSleep = Duration.milliseconds(10)
}
