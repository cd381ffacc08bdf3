/// The monitor's few numbers, each with its reason.
enum MonitorTiming {
    /// After it has been quiet for so long, one more look: a notification can come before the state it announces, and the
    /// barrier against that is inferred from the kernel's locking, not promised by it.
    static let trailingLook = Duration.milliseconds(200)

    /// After a removal, before looking: nine of ten batches that replace what they removed have done so by then, and looking
    /// at once would take the processor from the process that is about to.
    static let swapPause = Duration.microseconds(80)

    /// After a removal that takes reachability away, before telling: the rest of such batches.
    static let lossPause = Duration.microseconds(400)

    /// Before telling a loss when the processors are busy, which shows by waking late: then the process that is about to
    /// replace what it removed may have to wait for its turn, some 3 ms.
    static let busyLossPause = Duration.milliseconds(5)

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
