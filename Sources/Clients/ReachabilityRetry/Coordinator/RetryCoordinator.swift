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

/// Those that sleep, in line or beside an attempt.
extension RetryCoordinator {
    /// A number for somebody who will sleep, until `leave(_:)`.
    func makeSleeper() -> UInt64 {
        state.withLock { $0.alarms.makeID() }
    }

    func leave(_ sleeper: UInt64) {
        state.withLock { $0.alarms.leave(sleeper) }
    }

    /// Waits for what cuts an attempt short; nil when it is over, or the task was cancelled.
    ///
    /// - Parameters:
    ///   - connecting: The attempt, as long as it has sent nothing; nil for one that does not tell.
    ///   - host: Whose path it needs.
    ///   - deadline: The latest time on `clock`; nil for none.
    ///   - clock: What measures the deadline.
    ///   - signal: What a shutdown sends, a change of the path, and the end.
    ///   - isOver: Whether the attempt has ended: then nothing cuts it short any more.
    func cut(
        of connecting: ConnectingAttempt?,
        at host: String?,
        until deadline: Duration?,
        on clock: Timeline,
        _ signal: WakeSignal,
        isOver: () -> Bool
    ) async -> AttemptCut? {
        let sleeper = makeSleeper()
        defer {
            leave(sleeper)
            stopListening(sleeper, to: host)
        }
        while !Task.isCancelled, !isOver() {
            if state.withLock({ $0.shutdown == .cancel }) { return .end(.shutDown) }
            if let deadline, clock.now >= deadline { return .end(.deadlineExpired) }
            let step = connecting?.step(of: host, at: self, now: clock.now) { listen(sleeper, to: host, signal) }
            switch step {
            case .end(let failure): return .failed(failure)
            case .sleep(let time): await sleep(sleeper, until: Self.earlier(time, deadline), on: clock, signal)
            case nil: await sleep(sleeper, until: deadline, on: clock, signal)
            }
        }
        return nil
    }

    private static func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Sleeps until the signal comes, the time is up, or the task is cancelled.
    func sleep(_ sleeper: UInt64, until time: Duration?, on clock: Timeline, _ signal: WakeSignal) async {
        if let time { setAlarm(for: sleeper, at: time, on: clock, signal) } else { leave(sleeper) }
        await signal.wait()
    }

    /// Sees to it that the signal is sent at that time, or soon after one that was to be sent before.
    private func setAlarm(for sleeper: UInt64, at end: Duration, on clock: Timeline, _ signal: WakeSignal) {
        // The other clock may be any.
        let time = timeline.now + (end - clock.now)
        guard state.withLock({ $0.alarms.sleep(sleeper, until: time, signal: signal) }) else { return }
        clock.setAlarm(at: end) { [weak self] in
            for signal in self?.state.withLock({ $0.alarms.ring(time) }) ?? [] { signal.send() }
        }
    }
}

/// When those that sleep want to be woken, and which alarms are set. One alarm serves all that are to be woken at its time or later, also
/// those that come after it was set: so who sleeps shortly one after the other, as most attempts do, has few set between them, for an
/// alarm costs more than all the rest. A value; time is told.
struct AlarmList<WakeSignal> {
    private struct Sleeper {
        let time: Duration
        let signal: WakeSignal
    }

    private var sleepers: [UInt64: Sleeper] = [:]
    /// A heap, the earliest on top; those that left or have another time now are passed over.
    private var heap: [(time: Duration, id: UInt64)] = []
    private var lastID: UInt64 = 0
    /// The alarms that are set and have not rung, the earliest last.
    private var alarms: [Duration] = []

    /// A number for somebody who will sleep, perhaps many times.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Somebody goes to sleep; a time it had before counts no more.
    ///
    /// - Returns: Whether it has to set an alarm for that time.
    mutating func sleep(_ id: UInt64, until time: Duration, signal: WakeSignal) -> Bool {
        if sleepers[id]?.time != time { push((time, id)) }
        sleepers[id] = Sleeper(time: time, signal: signal)
        if let next = alarms.last, next <= time { return false }
        alarms.append(time)
        return true
    }

    /// Somebody will sleep no more.
    mutating func leave(_ id: UInt64) {
        sleepers[id] = nil
        if sleepers.isEmpty { heap.removeAll(keepingCapacity: true) }
    }

    /// The alarm that was set for this time rings. Returns whose signals are to be sent: of all whose time has come, and of who has to set
    /// the next alarm.
    mutating func ring(_ time: Duration) -> [WakeSignal] {
        if let place = alarms.lastIndex(of: time) { alarms.remove(at: place) }
        var woken: [WakeSignal] = []
        while let top = heap.first {
            guard let sleeper = sleepers[top.id], sleeper.time == top.time else {
                pop()
                continue
            }
            guard top.time <= time else {
                if alarms.last.map({ $0 > top.time }) ?? true { woken.append(sleeper.signal) }
                break
            }
            woken.append(sleeper.signal)
            sleepers[top.id] = nil
            pop()
        }
        return woken
    }

    private mutating func push(_ entry: (time: Duration, id: UInt64)) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].time < heap[parent].time {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while case let left = 2 * parent + 1, left < heap.count {
            let right = left + 1
            let child = right < heap.count && heap[right].time < heap[left].time ? right : left
            guard heap[child].time < heap[parent].time else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}

/// What wakes one that sleeps. A signal is kept for one that is awake, and several are as good as one.
struct WakeSignal: Sendable {
    private enum State {
        case idle
        case pending
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.idle)

    func send() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let sleeper) = state else {
                state = .pending
                return nil
            }
            state = .idle
            return sleeper
        }
        sleeper?.resume()
    }

    /// Returns when it is sent or when the task is cancelled, at once if that was before. For one task at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                if !sleep(sleeper) { sleeper.resume() }
            }
        } onCancel: {
            send()
        }
    }

    /// Whether it has not been sent already.
    private func sleep(_ sleeper: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            if case .pending = state {
                state = .idle
                return false
            }
            state = .awaited(sleeper)
            return true
        }
    }
}
