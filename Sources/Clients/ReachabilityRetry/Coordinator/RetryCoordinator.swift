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

extension RetryCoordinator {
    /// Ends the coordinator for good, and returns when nothing is under way any more, or when the task is cancelled.
    ///
    /// From now on `withRetry` throws ``RetryError/Ending/shutDown`` without an attempt. A drain can be followed by a cancel:
    /// to give it a time limit, cancel the task that drains and call it again.
    public func shutDown(_ mode: RetryShutdown) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let signals = state.withLock { state -> [WakeSignal] in
            if state.shutdown != .cancel { state.shutdown = mode }
            if state.active == 0 { end.finish() } else { state.observers.append(end) }
            guard mode == .cancel else { return [] }
            return Array(state.works.values) + state.lanes.values.flatMap(\.queue.signals)
        }
        for signal in signals { signal.send() }
        for await _ in ends {}
    }

    /// Counts one more call; false if there are to be none.
    func begin() -> Bool {
        state.withLock { state in
            guard state.shutdown == nil else { return false }
            state.active += 1
            return true
        }
    }

    /// One of the calls is at its end.
    func end() {
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.active -= 1
            guard state.active == 0 else { return [] }
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer.finish() }
    }

    /// Something begins, an attempt for example, which a shutdown wakes through the signal; nil if that is over already.
    func beginWork(_ signal: WakeSignal) -> UInt64? {
        state.withLock { state in
            guard state.shutdown != .cancel else { return nil }
            state.lastWork += 1
            state.works[state.lastWork] = signal
            return state.lastWork
        }
    }

    func endWork(_ number: UInt64) {
        state.withLock { $0.works[number] = nil }
    }
}

/// How a coordinator ends.
public enum RetryShutdown: Hashable, Sendable {
    /// What is under way goes on to its own end; nothing new begins.
    case drain
    /// Attempts under way are cancelled, and nobody waits any longer.
    case cancel
}
