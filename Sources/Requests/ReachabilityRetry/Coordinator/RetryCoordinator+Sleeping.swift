import LinuxPrimitives

/// Those that sleep, in line or beside an attempt.
extension RetryCoordinator {
    /// A number for somebody who will sleep, until `leave(_:)`.
    func makeSleeper() -> UInt64 {
        state.withLock { $0.alarms.makeID() }
    }

    func leave(_ sleeper: UInt64) {
        let wake = state.withLock { $0.alarms.leave(sleeper) }
        wake?.send()
    }

    /// Waits for what cuts an attempt short; nil when the task was cancelled.
    ///
    /// - Parameters:
    ///   - connecting: The attempt, as long as it has sent nothing; nil for one that does not tell.
    ///   - host: Whose path it needs.
    ///   - deadline: The latest time on `clock`; nil for none.
    ///   - clock: What measures the deadline.
    ///   - signal: What a shutdown sends, and a change of the path.
    func cut(
        of connecting: ConnectingAttempt?,
        at host: String?,
        until deadline: Duration?,
        on clock: Timeline,
        _ signal: WakeSignal
    ) async -> AttemptCut? {
        let sleeper = makeSleeper()
        defer {
            leave(sleeper)
            stopListening(sleeper, to: host)
        }
        while !Task.isCancelled {
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
        if let time, keepsTime(sleeper, until: time, on: clock, signal) {
            await keepTime(until: time, on: clock, signal)
        } else {
            if time == nil { leave(sleeper) }
            await signal.wait()
        }
    }

    /// Sleeps with a timer, for all that sleep.
    @inline(never)
    private func keepTime(until time: Duration, on clock: Timeline, _ signal: WakeSignal) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // A timer that is no longer wanted sends no signal.
                guard (try? await clock.sleep(until: time)) != nil else { return }
                signal.send()
            }
            await signal.wait()
            group.cancelAll()
        }
    }

    /// Whether nobody else will send the signal at that time.
    private func keepsTime(_ sleeper: UInt64, until time: Duration, on clock: Timeline, _ signal: WakeSignal) -> Bool {
        // The other clock may be any.
        let time = timeline.now + (time - clock.now)
        let (keepsTime, wake) = state.withLock { $0.alarms.sleep(sleeper, until: time, signal: signal) }
        wake?.send()
        return keepsTime
    }
}
