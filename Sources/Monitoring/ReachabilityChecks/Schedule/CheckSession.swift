import LinuxSupport

/// Runs a ``CheckSchedule``: gives it the time and what happens, and does what it wants.
///
/// One `run()` at most, in one task. It owns a timer, a round and an observation, each a task, and none of them is left when it returns; what
/// others ask of it until then is answered with nil. Thread-safe. The lock is held while the schedule decides, never while anybody waits.
package final class CheckSession: Sendable {
    /// Who does what the schedule wants. A task that is cancelled is to end soon, whatever it then says.
    package struct Errands: Sendable {
        /// What happens to the line, beginning with its path. See ``LineEvents``.
        package var events: @Sendable () -> AsyncStream<ScheduleEvent>
        package var runRound: @Sendable (RoundKind) async -> (CheckVerdict, ProbeCost)
        /// Asks the kernel. See ``PassiveProof``.
        package var observe: @Sendable () async -> PassiveFinding

        package init(
            events: @escaping @Sendable () -> AsyncStream<ScheduleEvent>,
            runRound: @escaping @Sendable (RoundKind) async -> (CheckVerdict, ProbeCost),
            observe: @escaping @Sendable () async -> PassiveFinding
        ) {
            (self.events, self.runRound, self.observe) = (events, runRound, observe)
        }
    }

    private enum Phase { case new, running, over }

    private struct State {
        var schedule: CheckSchedule
        var phase = Phase.new
        var callers: [UInt64: CheckedContinuation<CheckVerdict?, Never>] = [:]
        var listeners: [UInt64: AsyncStream<CheckVerdict>.Continuation] = [:]
        var lastID: UInt64 = 0

        mutating func makeID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    private let errands: Errands
    private let clock: Timeline
    private let state: Locked<State>
    private let events: AsyncStream<ScheduleEvent>
    private let inbox: AsyncStream<ScheduleEvent>.Continuation

    /// - Parameter clock: what measures the schedule; one that goes on while the machine sleeps.
    package init(
        _ schedule: CheckSchedule,
        clock: some Clock<Duration> = ContinuousClock(),
        errands: Errands
    ) {
        self.errands = errands
        self.clock = Timeline(clock)
        state = Locked(State(schedule: schedule))
        (events, inbox) = AsyncStream.makeStream()
    }

    // MARK: Running

    /// Follows the schedule until the task is cancelled. A second call returns at once.
    package func run() async {
        let isFirst = state.withLock { state in
            defer { if state.phase == .new { state.phase = .running } }
            return state.phase == .new
        }
        guard isFirst else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { [errands, inbox] in
                for await event in errands.events() { inbox.yield(event) }
            }
            var (timer, round): (Errand?, Errand?)
            for await event in events {
                for action in handle(event) {
                    switch action {
                    case .arm(let time):
                        timer?.cancel()
                        timer = time.map { time in Errand(in: &group) { [self] in await wait(until: time) } }
                    case .observe: group.addTask { [errands, inbox] in inbox.yield(.observed(await errands.observe())) }
                    case .run(let kind): round = Errand(in: &group) { [self] in await runRound(kind) }
                    case .cancelRound: round?.cancel()
                    case .notify: break
                    case .answer(let caller, let verdict): answer(caller, verdict)
                    }
                }
            }
            end()
            group.cancelAll()
        }
    }

    private func wait(until time: Duration) async {
        guard (try? await clock.sleep(until: time)) != nil else { return }
        inbox.yield(.timer)
    }

    private func runRound(_ kind: RoundKind) async {
        let (verdict, cost) = await errands.runRound(kind)
        inbox.yield(.roundEnded(verdict, cost))
    }

    private func answer(_ caller: UInt64, _ verdict: CheckVerdict?) {
        state.withLock { $0.callers.removeValue(forKey: caller) }?.resume(returning: verdict)
    }

    /// Verdicts are delivered in the order in which they were decided: the streams only take them, and wake their readers later.
    private func handle(_ event: ScheduleEvent) -> [ScheduleAction] {
        let now = clock.now
        return state.withLock { state in
            let actions = state.schedule.handle(event, at: now)
            for case .notify(let verdict) in actions {
                for listener in state.listeners.values { listener.yield(verdict) }
            }
            return actions
        }
    }

    private func end() {
        inbox.finish()
        let (callers, listeners) = state.withLock { state in
            state.phase = .over
            defer { (state.callers, state.listeners) = ([:], [:]) }
            return (Array(state.callers.values), Array(state.listeners.values))
        }
        for caller in callers { caller.resume(returning: nil) }
        for listener in listeners { listener.finish() }
    }

    // MARK: Asking

    /// What holds now, and whenever that changes; only the newest for a reader that is slow. It ends with `run()`.
    package var verdicts: AsyncStream<CheckVerdict> {
        let (stream, listener) = AsyncStream.makeStream(of: CheckVerdict.self, bufferingPolicy: .bufferingNewest(1))
        let id: UInt64? = state.withLock { state in
            guard state.phase != .over else { return nil }
            let id = state.makeID()
            state.listeners[id] = listener
            if let notified = state.schedule.notified { listener.yield(notified) }
            return id
        }
        guard let id else {
            listener.finish()
            return stream
        }
        listener.onTermination = { [weak self] _ in
            // Let go of outside the lock.
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// One answer that is not older than five seconds; nil where the task is cancelled, or `run()` has ended.
    package func answer() async -> CheckVerdict? { await answer { .asked($0) } }

    /// The first answer that says that it works.
    package func firstSuccess() async -> CheckVerdict? { await answer { .waiting($0) } }

    private func answer(_ question: (UInt64) -> ScheduleEvent) async -> CheckVerdict? {
        let id = state.withLock { $0.makeID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let isOver = state.withLock { state in
                    if state.phase != .over { state.callers[id] = caller }
                    return state.phase == .over
                }
                if isOver { return caller.resume(returning: nil) }
                inbox.yield(question(id))
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: UInt64) {
        guard let caller = state.withLock({ $0.callers.removeValue(forKey: id) }) else { return }
        inbox.yield(.left(id))
        caller.resume(returning: nil)
    }

    // MARK: The budget

    /// How it stands, and what was sent.
    package var figures: (state: ScheduleState, spent: CheckBudget.Figures) {
        let now = clock.now
        return state.withLock { ($0.schedule.state, $0.schedule.budget.figures(at: now)) }
    }
}

/// Work in a child task that can be cancelled before the others of its group.
private struct Errand: Sendable {
    private let stop: AsyncStream<Never>.Continuation

    init(in group: inout DiscardingTaskGroup, _ work: @escaping @Sendable () async -> Void) {
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        self.stop = stop
        group.addTask {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await work() }
                group.addTask { for await _ in stopped {} }
                // Whichever ends first ends the other.
                await group.next()
                group.cancelAll()
            }
        }
    }

    func cancel() { stop.finish() }
}
