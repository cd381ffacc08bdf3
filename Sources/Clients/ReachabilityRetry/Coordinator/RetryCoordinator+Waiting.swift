import LinuxSupport

/// Places in line.
extension RetryCoordinator {
    /// A place that was not given.
    struct Refusal: Error {
        let ending: RetryError.Ending
    }

    func add(
        _ pause: ReleaseQueue<WakeSignal>.Pause,
        _ target: RetryTarget,
        _ signal: WakeSignal
    ) -> Result<UInt64, Refusal> {
        state.withLock { state in
            guard state.shutdown != .cancel else { return .failure(Refusal(ending: .shutDown)) }
            guard let count = state.lanes[target.host]?.queue.count, count < limits.maximumWaiting,
                let ticket = state.lanes[target.host]?.queue.add(target.priority, pause: pause, signal: signal)
            else { return .failure(Refusal(ending: .tooManyWaiting)) }
            return .success(ticket)
        }
    }

    func step(_ ticket: UInt64, of target: RetryTarget) -> (ReleaseQueue<WakeSignal>.Step, isShutDown: Bool) {
        let now = timeline.now
        let (step, wake, isShutDown) = state.withLock { state in
            let (step, wake) = state.lanes[target.host]?.queue.step(ticket, now: now, &state.pace) ?? (.go, nil)
            return (step, wake, state.shutdown == .cancel)
        }
        wake?.send()
        if step == .probe { tell(.probing(target)) }
        return (step, isShutDown)
    }

    func putBack(_ ticket: UInt64, _ target: RetryTarget, _ signal: WakeSignal) {
        state.withLock { $0.lanes[target.host]?.queue.putBack(ticket, target.priority, signal: signal) }
    }

    func remove(_ ticket: UInt64, from host: String?) {
        let wake = state.withLock { $0.lanes[host]?.queue.remove(ticket) }
        wake?.send()
    }
}

/// One that waits in line for a retry at its host.
///
/// What it needs is kept here and not on the stack of its task, which grows by a thousand bytes at once: of those that wait there may
/// be very many.
final class WaitInLine {
    private let coordinator: RetryCoordinator
    private let target: RetryTarget
    private let deadline: Duration?
    private let clock: Timeline
    private let signal = WakeSignal()
    private let sleeper: UInt64
    private let ticket: Result<UInt64, RetryCoordinator.Refusal>

    /// What to do next.
    private enum Step {
        case over(WaitEnd)
        /// Looks again when the signal comes, or at this time on `clock`.
        case sleep(until: Duration?)
    }

    /// Gets in line; who does has entered at the coordinator.
    ///
    /// - Parameters:
    ///   - pause: How long to wait before that, and whether a new path cuts it short; nil for not at all.
    ///   - target: What waits.
    ///   - deadline: When the wait ends, on `clock`; nil for never.
    ///   - clock: What measures the deadline.
    ///   - coordinator: Where the line is.
    init(
        _ pause: (duration: Duration, endsWithNewPath: Bool)?,
        for target: RetryTarget,
        until deadline: Duration?,
        on clock: Timeline,
        at coordinator: RetryCoordinator
    ) {
        self.coordinator = coordinator
        self.target = target
        self.deadline = deadline
        self.clock = clock
        let begin = coordinator.timeline.now
        ticket = coordinator.add(
            pause.map { .until(begin + $0.duration, endsWithNewPath: $0.endsWithNewPath) } ?? .none,
            target,
            signal
        )
        sleeper = coordinator.makeSleeper()
    }

    deinit {
        coordinator.leave(sleeper)
    }

    /// Waits for the turn.
    func end() async -> WaitEnd {
        while true {
            switch step() {
            case .over(let end): return end
            case .sleep(let time): await coordinator.sleep(sleeper, until: time, on: clock, signal)
            }
        }
    }

    @inline(never)
    private func step() -> Step {
        let ticket: UInt64
        switch self.ticket {
        case .success(let given): ticket = given
        case .failure(let refusal): return .over(.ended(refusal.ending))
        }
        while true {
            let (step, isShutDown) = coordinator.step(ticket, of: target)
            if step == .probe { return .over(.turn(isProbe: true)) }
            if step == .go {
                // The attempt is the burden to be spared: the kernel is asked once more, at the cost of a lookup.
                if coordinator.isOpen(target.host) { return .over(.turn(isProbe: false)) }
                coordinator.putBack(ticket, target, signal)
            }
            var ending: RetryError.Ending?
            if isShutDown { ending = .shutDown }
            if let deadline, clock.now >= deadline { ending = .deadlineExpired }
            if Task.isCancelled { ending = .cancelled }
            if let ending {
                coordinator.remove(ticket, from: target.host)
                return .over(.ended(ending))
            }
            if step != .go { return .sleep(until: alarm(step)) }
        }
    }

    /// When to look again on `clock` if no signal comes.
    private func alarm(_ step: ReleaseQueue<WakeSignal>.Step) -> Duration? {
        guard case .sleep(let time?) = step else { return deadline }
        let turn = clock.now + (time - coordinator.timeline.now)
        return deadline.map { min($0, turn) } ?? turn
    }
}

/// How a wait for a retry ended.
enum WaitEnd {
    /// The turn has come; to show whether the monitor is right, where it says that the host is not reachable.
    case turn(isProbe: Bool)
    /// It has not, and will not.
    case ended(RetryError.Ending)
}
