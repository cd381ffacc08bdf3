import LinuxSupport

/// The state that retries share. For each host: one queue, one rate, one budget and one subscription to the monitor.
///
/// A ``RetryPolicy`` belongs to a request. Limits that protect a host, and that must be the same for all requests to
/// it, belong to the coordinator. Most processes need only ``shared``, whose reachability comes from the kernel. Create
/// another coordinator for other limits, or for tests. Coordinators are independent, so the limits of two coordinators
/// add up.
///
/// Each request waits in its own task. One timer serves all requests that are due at its time or later. No host is
/// watched before a request to it has failed. Hosts without waiting requests are removed. If there are more than 1024
/// hosts, those with a partly used budget are removed too.
///
/// Thread-safe.
public final class RetryCoordinator: Sendable {
    struct State {
        var hosts: [String?: HostState] = [:]
        /// The alarms of all waiting requests to all hosts.
        var alarms = AlarmList<WakeSignal>()
        var pace: ReleasePace
        var statistics = RetryStatistics()
        /// The number of calls of `withRetry` in progress.
        var active = 0
        var shutdown: RetryShutdown?
        /// The signals of the operations in progress, for example attempts. A shutdown sends them.
        var works: [UInt64: WakeSignal] = [:]
        var lastWork: UInt64 = 0
        /// The callers that wait for the end of a shutdown.
        var observers: [AsyncStream<Void>.Continuation] = []
        var random: any RandomNumberGenerator & Sendable
    }

    /// The maximum number of hosts that are kept while no request uses them.
    static let keptHosts = 1024

    /// The limits of each host.
    public let limits: RetryLimits

    let source: any ReachabilityProvider
    let advisor: (any RetryAdvisor)?
    /// Receives the events of all requests.
    let observer: RetryObserver?
    let timeline: Timeline
    let state: Locked<State>

    /// The coordinator that the process shares, with ``RetryLimits/standard`` and the reachability from the kernel.
    public static let shared = RetryCoordinator()

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - limits: The limits of each host.
    ///   - reachability: The source of reachability. The default is the kernel.
    ///   - advisor: Reports faults that the kernel cannot detect. It is called before the wait for a retry. If nil, no
    ///     advice is used.
    ///   - observer: Receives the events of all requests.
    ///   - clock: Measures the rate of retries and the waits.
    ///   - random: The source of randomness for the spread of retries and for the backoff.
    public init(
        limits: RetryLimits = .standard,
        reachability: any ReachabilityProvider = NetlinkReachabilityProvider(),
        advisor: (any RetryAdvisor)? = nil,
        observer: RetryObserver? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.limits = limits
        source = reachability
        self.advisor = advisor
        self.observer = observer
        timeline = Timeline(clock)
        state = Locked(State(pace: ReleasePace(interval: .seconds(1) / limits.totalRate), random: random))
    }

    /// Returns the number of requests that wait for a retry at a host now. If the host is nil, at the network at large.
    public func waitingCount(for host: String?) -> Int {
        state.withLock { $0.hosts[host?.lowercased()]?.queue.count ?? 0 }
    }

    /// Returns the number of tokens left in a host's budget. If the host is nil, in the budget of the network at large.
    public func remainingBudget(for host: String?) -> Int {
        state.withLock { $0.hosts[host?.lowercased()]?.bucket.tokens ?? limits.budget.capacity }
    }

    /// Returns addresses that are assigned to no host, one for each address family in which the network at large has a
    /// path.
    package func unassignedAddresses() -> [String] { source.unassignedAddresses() }

    /// Returns a uniformly distributed number from 0 to 1.
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
    /// Shuts the coordinator down permanently. Returns when no request is in progress, or when the task is cancelled.
    ///
    /// After this call, `withRetry` throws ``RetryError/Ending/shutDown`` without an attempt. A shutdown with
    /// ``RetryShutdown/drain`` may be followed by one with ``RetryShutdown/cancel``. To limit the time of a drain,
    /// cancel the task that drains, and call this function again.
    public func shutDown(_ mode: RetryShutdown) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let signals = state.withLock { state -> [WakeSignal] in
            if state.shutdown != .cancel { state.shutdown = mode }
            if state.active == 0 { end.finish() } else { state.observers.append(end) }
            guard mode == .cancel else { return [] }
            return Array(state.works.values) + state.hosts.values.flatMap(\.queue.signals)
        }
        for signal in signals { signal.send() }
        for await _ in ends {}
    }

    /// Counts a call of `withRetry`. Returns false after a shutdown.
    func begin() -> Bool {
        state.withLock { state in
            guard state.shutdown == nil else { return false }
            state.active += 1
            return true
        }
    }

    /// Records the end of a call of `withRetry`.
    func end() {
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.active -= 1
            guard state.active == 0 else { return [] }
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer.finish() }
    }

    /// Registers an operation, for example an attempt. A shutdown sends the signal. Returns nil after a shutdown with
    /// ``RetryShutdown/cancel``.
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

/// The way in which a coordinator is shut down.
public enum RetryShutdown: Hashable, Sendable {
    /// Requests in progress continue to their end. New requests are refused.
    case drain
    /// Attempts in progress are cancelled, and all waits end.
    case cancel
}

/// Sleeping tasks, in a queue or beside an attempt.
extension RetryCoordinator {
    /// Returns an identifier for a task that sleeps, valid until `leave(_:)`.
    func makeSleeper() -> UInt64 {
        state.withLock { $0.alarms.makeID() }
    }

    func leave(_ sleeper: UInt64) {
        state.withLock { state in
            state.alarms.leave(sleeper)
            return state.alarms.unserved
        }?.send()
    }

    /// Waits for a reason to end an attempt early. Returns nil if the attempt has ended, or the task was cancelled.
    ///
    /// - Parameters:
    ///   - connecting: The attempt; nil if its client does not report progress.
    ///   - host: The host whose path the attempt needs.
    ///   - deadline: The deadline on `clock`; nil for none.
    ///   - clock: The clock that measures the deadline.
    ///   - signal: Sent by a shutdown, by a change of the path, and by the end of the attempt.
    ///   - isOver: Returns whether the attempt has ended.
    func cut(
        of connecting: ConnectingAttempt?,
        at host: String?,
        until deadline: Duration?,
        on clock: Timeline,
        _ signal: WakeSignal,
        isOver: () -> Bool
    ) async -> Interruption? {
        let sleeper = makeSleeper()
        var isListening = false
        defer {
            leave(sleeper)
            if isListening { stopListening(sleeper, to: host) }
        }
        while !Task.isCancelled, !isOver() {
            if state.withLock({ $0.shutdown == .cancel }) { return .end(.shutDown) }
            if let deadline, clock.now >= deadline { return .end(.deadlineExpired) }
            let step = connecting?.step(of: host, at: self, now: clock.now) {
                isListening = true
                listen(sleeper, to: host, signal)
            }
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

    /// Sleeps until the signal is sent, the time is reached, or the task is cancelled.
    func sleep(_ sleeper: UInt64, until time: Duration?, on clock: Timeline, _ signal: WakeSignal) async {
        if let time { setAlarm(for: sleeper, at: time, on: clock, signal) } else { leave(sleeper) }
        await signal.wait()
    }

    /// Ensures that the signal is sent at the given time, or soon after an earlier alarm.
    private func setAlarm(for sleeper: UInt64, at end: Duration, on clock: Timeline, _ signal: WakeSignal) {
        // The two clocks may be of different types.
        let time = timeline.now + (end - clock.now)
        let (mustSet, unserved) = state.withLock { state in
            (state.alarms.sleep(sleeper, until: time, signal: signal), state.alarms.unserved)
        }
        unserved?.send()
        guard mustSet else { return }
        clock.setAlarm(at: end) { [weak self] in
            for signal in self?.state.withLock({ $0.alarms.ring(time) }) ?? [] { signal.send() }
        }
    }
}

/// The wake-up times of sleeping tasks, and the alarms that are set. A value type: the caller passes the time.
///
/// An alarm is expensive. One alarm therefore serves all tasks that are due at its time or later, including those that
/// start to sleep after it was set. Most attempts start to sleep at short intervals and need few alarms.
///
/// If no alarm serves the earliest task, that task is woken and sets one. It may instead have ended, or sleep until a
/// later time. After each change the caller therefore sends the signal ``unserved``.
struct AlarmList<WakeSignal> {
    private struct Sleeper {
        let time: Duration
        let signal: WakeSignal
    }

    private var sleepers: [UInt64: Sleeper] = [:]
    /// A min-heap by time. An entry whose task has left or has another time now is skipped.
    private var heap: [(time: Duration, id: UInt64)] = []
    private var lastID: UInt64 = 0
    /// The times of the alarms that are set and have not fired, the earliest last.
    private var alarms: [Duration] = []

    /// Returns an identifier for a task that sleeps, possibly many times.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Records that a task sleeps until a time. Replaces its previous time.
    ///
    /// - Returns: True if the caller must set an alarm for that time.
    mutating func sleep(_ id: UInt64, until time: Duration, signal: WakeSignal) -> Bool {
        if sleepers[id]?.time != time { push((time, id)) }
        sleepers[id] = Sleeper(time: time, signal: signal)
        if let next = alarms.last, next <= time { return false }
        alarms.append(time)
        return true
    }

    /// Removes a task.
    mutating func leave(_ id: UInt64) {
        sleepers[id] = nil
        if sleepers.isEmpty { heap.removeAll(keepingCapacity: true) }
    }

    /// The signal of the earliest task, if no alarm is set for it; otherwise nil.
    var unserved: WakeSignal? {
        mutating get {
            guard let first = earliest(), alarms.last.map({ $0 > first.time }) ?? true else { return nil }
            return first.signal
        }
    }

    /// Records that the alarm for this time has fired. Returns the signals to send: those of all tasks that are due,
    /// and that of the task that must set the next alarm.
    mutating func ring(_ time: Duration) -> [WakeSignal] {
        if let place = alarms.lastIndex(of: time) { alarms.remove(at: place) }
        var woken: [WakeSignal] = []
        while let first = earliest(), first.time <= time {
            woken.append(first.signal)
            sleepers[heap[0].id] = nil
            pop()
        }
        return woken + [unserved].compactMap(\.self)
    }

    private mutating func earliest() -> Sleeper? {
        while let top = heap.first {
            if let sleeper = sleepers[top.id], sleeper.time == top.time { return sleeper }
            pop()
        }
        return nil
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

/// A signal that wakes one sleeping task. If the task is awake, the signal is kept until its next wait. Several signals
/// count as one.
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

    /// Returns when the signal is sent or the task is cancelled, or immediately if either has happened before. Only one
    /// task at a time may wait.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                if !sleep(sleeper) { sleeper.resume() }
            }
        } onCancel: {
            send()
        }
    }

    /// Stores the continuation. Returns false if the signal was already sent.
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
