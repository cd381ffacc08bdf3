import LinuxSupport

/// The queues of waiting retries.
extension RetryCoordinator {
    /// The error of a request that cannot be queued.
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
            guard let count = state.hosts[target.host]?.queue.count, count < limits.maximumWaiting,
                let ticket = state.hosts[target.host]?.queue.add(target.priority, pause: pause, signal: signal)
            else { return .failure(Refusal(ending: .tooManyWaiting)) }
            return .success(ticket)
        }
    }

    func step(_ ticket: UInt64, of target: RetryTarget) -> (ReleaseQueue<WakeSignal>.Step, isShutDown: Bool) {
        let now = timeline.now
        let (step, wake, isShutDown) = state.withLock { state in
            let (step, wake) = state.hosts[target.host]?.queue.step(ticket, now: now, &state.pace) ?? (.go, nil)
            return (step, wake, state.shutdown == .cancel)
        }
        wake?.send()
        if step == .probe { publish(.probing(target)) }
        return (step, isShutDown)
    }

    func putBack(_ ticket: UInt64, _ target: RetryTarget, _ signal: WakeSignal) {
        state.withLock { $0.hosts[target.host]?.queue.putBack(ticket, target.priority, signal: signal) }
    }

    func remove(_ ticket: UInt64, from host: String?) {
        let wake = state.withLock { $0.hosts[host]?.queue.remove(ticket) }
        wake?.send()
    }
}

/// A request that waits in the queue of its host.
///
/// Its state is kept here and not on the stack of its task, which grows in steps of 1000 bytes. Very many requests may
/// wait at the same time.
final class QueuedWait {
    private let coordinator: RetryCoordinator
    private let target: RetryTarget
    private let deadline: Duration?
    private let clock: Timeline
    private let signal = WakeSignal()
    private let sleeper: UInt64
    private let ticket: Result<UInt64, RetryCoordinator.Refusal>

    /// The next action of the wait.
    private enum Step {
        case over(WaitEnd)
        /// Check again when the signal is sent, or at this time on `clock`.
        case sleep(until: Duration?)
    }

    /// Adds a request to the queue. The request must be a user of the host.
    ///
    /// - Parameters:
    ///   - pause: The wait before the request enters the queue, and whether a new path ends it; nil for no pause.
    ///   - target: The target of the request.
    ///   - deadline: The end of the wait, on `clock`; nil for none.
    ///   - clock: The clock that measures the deadline.
    ///   - coordinator: The coordinator with the queue.
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

    /// Waits until the request may start, or until the wait ends.
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
                // An attempt costs more than a route lookup, so the kernel is queried again first.
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

    /// Returns the time of the next check on `clock` if no signal is sent.
    private func alarm(_ step: ReleaseQueue<WakeSignal>.Step) -> Duration? {
        guard case .sleep(let time?) = step else { return deadline }
        let turn = clock.now + (time - coordinator.timeline.now)
        return deadline.map { min($0, turn) } ?? turn
    }
}

/// The end of a wait for a retry.
enum WaitEnd {
    /// The request may start. If `isProbe` is true, the monitor reports that the host is not reachable, and the attempt
    /// tests that.
    case turn(isProbe: Bool)
    /// The request must not start, for this reason.
    case ended(RetryError.Ending)
}
