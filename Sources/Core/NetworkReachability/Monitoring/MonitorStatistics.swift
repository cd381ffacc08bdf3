import Netlink

/// What a monitor has done since it was made. The numbers only grow, and say nothing of other processes.
///
/// All managers of a network namespace share one monitor, so these are the numbers of all of them.
public struct MonitorStatistics: Hashable, Sendable {
    /// Messages received from the kernel.
    public internal(set) var messages: UInt64 = 0

    /// How many of ``messages`` were about routes that concern no target, and so led to no evaluation. With a filter in the
    /// kernel few of them are heard at all.
    public internal(set) var irrelevantMessages: UInt64 = 0

    /// How often the kernel said that messages were lost for want of buffer space (ENOBUFS, `netlink(7)`). Nothing is
    /// lost for good: each loss leads to an evaluation.
    public internal(set) var overruns: UInt64 = 0

    /// Messages of other processes, which are ignored. They do not count among ``messages``.
    public internal(set) var foreignMessages: UInt64 = 0

    /// How often targets were evaluated because of an event, a timer or a new listener.
    public internal(set) var evaluations: UInt64 = 0

    /// How many targets those evaluations were about, each counted every time.
    public internal(set) var evaluatedTargets: UInt64 = 0

    /// Routes looked up (RTM_GETROUTE, `rtnetlink(7)`), for evaluations and for whoever asked a manager.
    public internal(set) var lookups: UInt64 = 0

    /// Calls of listeners that have returned, and elements handed to asynchronous sequences.
    public internal(set) var listenerCalls: UInt64 = 0

    /// From the moment the process noticed a notification, when the thread that waits for the kernel woke, to the moment a
    /// listener was called because of it, on its own queue where it has one; for an asynchronous sequence, to the moment the
    /// element was ready for its reader. Several notifications that led to one evaluation count from the first.
    ///
    /// Calls that no notification led to are not measured: the first of a listener, and those after a timer or an answer of
    /// the name service.
    public internal(set) var lag = LatencyHistogram()

    /// Nothing done yet.
    package init() {}

    mutating func count(_ burst: EventBurst) {
        messages += UInt64(burst.messages)
        overruns += UInt64(burst.overruns)
        foreignMessages += UInt64(burst.foreign)
    }
}

extension MonitorStatistics: CustomStringConvertible {
    /// Every number with its name, on one line.
    public var description: String {
        """
        messages \(messages), irrelevant \(irrelevantMessages), overruns \(overruns), foreign \(foreignMessages), \
        evaluations \(evaluations), targets \(evaluatedTargets), lookups \(lookups), listener calls \(listenerCalls), \
        lag: \(lag)
        """
    }
}
