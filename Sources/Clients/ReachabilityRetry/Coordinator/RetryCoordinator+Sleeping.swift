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
