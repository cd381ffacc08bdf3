import LinuxSupport
public import Logging
public import ReachabilityRetry

/// How an outbox keeps and sends. Every option has a default.
public struct OutboxOptions: Sendable {
    /// What happens to a request that does not fit.
    public enum WhenFull: String, Hashable, Sendable, CaseIterable {
        /// It is refused with ``OutboxError/full(file:limit:)``, and what is there stays.
        case refuse
        /// Dead letters make room, then requests of the lowest priority, the oldest first, but none that is being sent and none of
        /// a higher priority than the new one; when that is not enough, the new one is refused and all stay. Each is told to
        /// ``OutboxOptions/report`` before it goes.
        case dropOldest
    }

    /// How many requests it may hold, dead letters among them.
    public var maximumCount = 10_000
    /// How many bytes they may have together (``OutboxRequest/size``). The file is somewhat larger.
    public var maximumBytes = 64 << 20
    /// What happens to a request that does not fit.
    public var whenFull = WhenFull.refuse
    /// How long the dedupe key of a delivered request is remembered: putting it in again changes nothing. At most ten
    /// thousand are, the newest.
    public var dedupeWindow: Duration = .seconds(86_400)
    /// How long an origin is left alone after a failure; it ends at once when the host becomes reachable again.
    public var backoff = Backoff.standard
    /// The longest a server may ask to be left alone.
    public var maximumRetryAfter: Duration = .seconds(3600)
    /// How often a request is tried before it becomes a dead letter; nil for as often as it takes, for which it holds up its origin.
    /// With the default backoff a thousand are about eight hours of a server that answers with errors. What is no
    /// attempt (``OutboxResult/held(cause:)``) is not counted.
    public var maximumAttempts: Int? = 1000
    /// How long a request may wait that was put in without an expiry; nil for ever. A week by default.
    public var defaultExpiry: Duration? = .seconds(604_800)
    /// Called for each request that is thrown away when another is put in, before it is gone: ``OutboxEvent/expired(_:)``,
    /// ``OutboxEvent/dropped(_:)``. On a thread of the outbox's own, which waits for it: keep it short.
    public var report: (@Sendable (OutboxEvent) -> Void)?
    /// How long what is being sent may go on after the outbox was told to end.
    public var drainLimit: Duration = .seconds(10)
    /// How often ``Outbox/run(sender:coordinator:report:)`` looks for what other processes have put in where the kernel has no file watch
    /// to spare (`/proc/sys/fs/inotify`). Otherwise it is told, and looks at nothing in between.
    public var pollInterval: Duration = .seconds(1)
    /// How many requests are sent at the same time, each to another origin.
    public var maximumConcurrentHosts = 8
    /// Whether a new file is begun when the old one is corrupt and was set aside.
    public var replacesCorruptFile = false
    /// Where to log: what was delivered or thrown away at `info` and `warning`, attempts at `debug`. Never a secret.
    public var logger: Logger?
    /// What waits are measured by.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The time since 1970-01-01T00:00:00Z, CLOCK_REALTIME: what is stored must hold across restarts of the machine.
    public var realTime: @Sendable () -> Duration = { SystemClock.real }

    /// Every option at its default.
    public init() {}
}
