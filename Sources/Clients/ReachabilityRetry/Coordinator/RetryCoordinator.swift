import LinuxSupport

/// What retries share: for each host one line to wait in, one rate of release, one budget and one watch on the monitor.
///
/// A policy belongs to a request; what protects a host, and what must be one for all requests to it, belongs here. One coordinator
/// per process is right for most, ``shared``, whose verdicts are the kernel's; make another for other limits, or for tests. Two coordinators know nothing of each
/// other: the limits of both add up.
///
/// Whoever waits does so in its own task; one timer serves all that are to be woken at its time or later.
/// Nothing is watched while nothing has failed. Hosts that are not in use are forgotten, those with a spent budget beyond a
/// thousand too.
///
/// Thread-safe.
public final class RetryCoordinator: Sendable {
    struct State {
        var lanes: [String?: HostLane] = [:]
        /// Of all that wait, at whichever host.
        var alarms = AlarmList<WakeSignal>()
        var pace: ReleasePace
        var statistics = RetryStatistics()
        /// How many calls of `withRetry` are under way.
        var active = 0
        var shutdown: RetryShutdown?
        /// What is under way, attempts for example, to be ended by a shutdown.
        var works: [UInt64: WakeSignal] = [:]
        var lastWork: UInt64 = 0
        /// Those that wait for the end.
        var observers: [AsyncStream<Void>.Continuation] = []
        var random: any RandomNumberGenerator & Sendable
    }

    /// Hosts nobody uses are forgotten beyond so many.
    static let keptHosts = 1024

    /// What holds for each host.
    public let limits: RetryLimits

    let source: any VerdictSource
    let advisor: (any RetryAdvisor)?
    /// Told of every request.
    let observer: RetryObserver?
    let timeline: Timeline
    let state: Locked<State>

    /// The coordinator that the process shares: ``RetryLimits/standard``, and the kernel's verdicts.
    public static let shared = RetryCoordinator()

    /// A coordinator of its own.
    ///
    /// - Parameters:
    ///   - limits: What holds for each host.
    ///   - verdicts: Who says whether a host is reachable. The default is the kernel.
    ///   - advisor: Who finds out what the kernel cannot know, before a retry is waited for; nil for nobody.
    ///   - observer: Told what happens to every request.
    ///   - clock: What measures the rate of release and the waits.
    ///   - random: What spreads waits.
    public init(
        limits: RetryLimits = .standard,
        verdicts: any VerdictSource = MonitoredVerdicts(),
        advisor: (any RetryAdvisor)? = nil,
        observer: RetryObserver? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.limits = limits
        source = verdicts
        self.advisor = advisor
        self.observer = observer
        timeline = Timeline(clock)
        state = Locked(State(pace: ReleasePace(interval: .seconds(1) / limits.totalRate), random: random))
    }

    /// How many requests wait for a retry at a host now; nil for the network at large.
    public func waitingCount(for host: String?) -> Int {
        state.withLock { $0.lanes[host?.lowercased()]?.queue.count ?? 0 }
    }

    /// How many tokens are left of a host's budget; nil for the network at large.
    public func remainingBudget(for host: String?) -> Int {
        state.withLock { $0.lanes[host?.lowercased()]?.bucket.tokens ?? limits.budget.capacity }
    }

    /// Addresses that no host has, one for each family in which the network at large has a path.
    package func unassignedAddresses() -> [String] { source.unassignedAddresses() }

    /// Evenly distributed from 0 to 1.
    func chance() -> Double {
        state.withLock { $0.chance() }
    }
}

extension RetryCoordinator.State {
    mutating func chance() -> Double {
        func draw(_ random: inout some RandomNumberGenerator) -> Double { .random(in: 0..<1, using: &random) }
        return draw(&random)
    }
}
