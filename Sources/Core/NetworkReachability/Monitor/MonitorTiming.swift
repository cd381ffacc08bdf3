/// The monitor's few numbers, each with its reason.
enum MonitorTiming {
    /// After it has been quiet for so long, one more look: a notification can come before the state it announces, and the
    /// barrier against that is inferred from the kernel's locking, not promised by it.
    static let trailingLook = Duration.milliseconds(200)

    /// Before telling a loss, while the process that removed a route is at work and may replace it: then its activity is
    /// asked for again.
    static let workPause = Duration.microseconds(60)

    /// So many targets are looked at before others get a turn on the queue: some milliseconds.
    static let lookLimit = 256

    /// However long it works or removes, what it took away is told after so many pauses, some 20 ms.
    static let pauseLimit = 200

    /// Before telling a loss that nobody known has caused: 99 of 100 batches have replaced by then what they removed.
    static let lossPause = Duration.microseconds(400)

    /// The same when the processors are busy, which shows by waking late: then the process that is about to replace what it
    /// removed may have to wait for its turn, some 3 ms.
    static let busyLossPause = Duration.milliseconds(5)

    /// From one look to the next while ``SettlePolicy/hysteresis(failures:successes:)`` counts: the kernel itself tells of
    /// carriers but once a second (`net/core/link_watch.c`), so a count of shorter looks would confirm little.
    static let hysteresisPause = Duration.seconds(1)

    /// Until netlink is tried again after it was denied: 0.1, 0.2, 0.4 ... 30 s.
    static func retryDelay(afterFailures failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100 << min(failures, 10)))
    }

    /// Added to the lifetime of a route, whose clock ticks in hundredths of a second.
    static let lifetimeSlack = Duration.milliseconds(15)

    /// Less sleep than this is the two clocks being read one after the other.
    static let shortestSleep = Duration.milliseconds(10)
}
