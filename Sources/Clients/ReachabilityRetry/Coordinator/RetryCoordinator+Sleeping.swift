import LinuxSupport

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
