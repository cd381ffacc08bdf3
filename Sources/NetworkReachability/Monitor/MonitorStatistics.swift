import Netlink

/// What a monitor has done since it was made. The numbers only grow, and say nothing of other processes.
public struct MonitorStatistics: Hashable, Sendable {
    /// Messages received from the kernel.
    public internal(set) var messages: UInt64 = 0

    /// How often the kernel said that messages were lost for want of buffer space (ENOBUFS, `netlink(7)`). Nothing is
    /// lost for good: each loss leads to an evaluation.
    public internal(set) var overruns: UInt64 = 0

    /// Messages of other processes, which are ignored.
    public internal(set) var foreignMessages: UInt64 = 0

    /// How often targets were evaluated because of an event, a timer or a new listener.
    public internal(set) var evaluations: UInt64 = 0

    mutating func count(_ burst: EventBurst) {
        messages += UInt64(burst.messages)
        overruns += UInt64(burst.overruns)
        foreignMessages += UInt64(burst.foreign)
    }
}
