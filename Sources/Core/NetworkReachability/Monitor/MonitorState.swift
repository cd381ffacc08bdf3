import Netlink

/// What a monitor knows besides the kernel: who watches what, and what it waits for.
struct MonitorState {
    var records = RecordTable()
    /// The targets somebody listens to.
    var watched = RecordList()
    /// Those of them that are names.
    var names = RecordList()
    /// Those that begin to be watched as soon as the queue has a turn for them.
    var arrivals: [TargetRecord] = []
    var index = TargetIndex()
    /// Whether the kernel's filter is that of the index, is going to be, or has been refused.
    var isFilterCurrent = false
    var isFilterPlanned = false
    var isFilterRefused = false
    /// What the next trailing look is to look at.
    var touched = Touched()
    /// What is to be looked at as soon as the queue has had a turn for others.
    var backlog = Backlog()
    var statistics = MonitorStatistics()
    /// Who is told that targets were looked at, by number.
    var observers: [UInt64: @Sendable () -> Void] = [:]
    var lastObserver: UInt64 = 0

    /// Failed attempts to listen since the last one that worked.
    var retries = 0
    /// How long the machine has slept since it started, when last looked at.
    var slept = Duration.zero
    /// When the last burst was heard, on the monotonic clock.
    var lastBurst = Duration.zero
    /// When the next route expires, on the monotonic clock.
    var expiryTime: Duration?

    /// What is waited for while anybody watches; letting go of it is the end of it.
    var waits = Waits()

    /// Waited for always, not only while anybody watches: sockets for the next question must not keep a namespace alive.
    var namespace: Cancellation?

    struct Waits {
        var trailingLook: Cancellation?
        var expiry: Cancellation?
        var retry: Cancellation?
        var sleep: Cancellation?
        var nameConfiguration: Cancellation?
    }
}
