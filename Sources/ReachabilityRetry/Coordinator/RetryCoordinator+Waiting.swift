import Netlink
import NetworkReachability

extension RetryCoordinator {
    /// Waits in line for a retry at the target's host; who calls this has entered.
    ///
    /// - Parameters:
    ///   - pause: How long to wait before getting in line, and whether a new path cuts that short; nil for not at all.
    ///   - target: What waits.
    ///   - deadline: When the wait ends, on `clock`; nil for never.
    ///   - clock: What measures the deadline.
    func wait(
        _ pause: (duration: Duration, endsWithNewPath: Bool)?,
        for target: RetryTarget,
        until deadline: Duration?,
        on clock: Timeline
    ) async -> WaitEnd {
        let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let begin = timeline.now
        let ticket: UInt64
        switch add(
            pause.map { .until(begin + $0.duration, endsWithNewPath: $0.endsWithNewPath) } ?? .none,
            target,
            bell
        ) {
        case .success(let added): ticket = added
        case .failure(let refusal): return .ended(refusal.ending)
        }
        let sleeper = state.withLock { $0.alarms.makeID() }
        defer { leave(sleeper) }
        var rings = bells.makeAsyncIterator()
        while true {
            let (step, isShutDown) = step(ticket, of: target.host)
            if step == .go {
                // The attempt is the burden to be spared: the kernel is asked once more, at the cost of a lookup.
                if ask(target.host).status != .notReachable { return .turn }
                putBack(ticket, target, bell)
            }
            var ending: RetryError.Ending?
            if isShutDown { ending = .shutDown }
            if let deadline, clock.now >= deadline { ending = .deadlineExpired }
            if Task.isCancelled { ending = .cancelled }
            if let ending {
                remove(ticket, from: target.host)
                return .ended(ending)
            }
            if step == .go { continue }
            await sleep(sleeper, until: alarm(step, deadline, clock), on: clock, bell, &rings)
        }
    }

    /// Waits for what cuts an attempt short; nil when the task was cancelled.
    ///
    /// - Parameters:
    ///   - deadline: The latest time on `clock`; nil for none.
    ///   - clock: What measures the deadline.
    ///   - bells: What a shutdown rings.
    ///   - bell: What is heard in `bells`.
    func end(
        ofAttemptUntil deadline: Duration?,
        on clock: Timeline,
        _ bells: AsyncStream<Void>,
        _ bell: HostLane.Bell
    ) async -> RetryError.Ending? {
        let sleeper = state.withLock { $0.alarms.makeID() }
        defer { leave(sleeper) }
        var rings = bells.makeAsyncIterator()
        while !Task.isCancelled {
            if state.withLock({ $0.shutdown == .cancel }) { return .shutDown }
            if let deadline, clock.now >= deadline { return .deadlineExpired }
            await sleep(sleeper, until: deadline, on: clock, bell, &rings)
        }
        return nil
    }

    /// When to look again on `clock` if no bell rings.
    private func alarm(_ step: ReleaseQueue<HostLane.Bell>.Step, _ deadline: Duration?, _ clock: Timeline) -> Duration?
    {
        guard case .sleep(let time?) = step else { return deadline }
        let turn = clock.now + (time - timeline.now)
        return deadline.map { min($0, turn) } ?? turn
    }

    private func leave(_ sleeper: UInt64) {
        let wake = state.withLock { $0.alarms.leave(sleeper) }
        wake?.yield()
    }

    /// Sleeps until the bell rings, the time is up, or the task is cancelled.
    private func sleep(
        _ sleeper: UInt64,
        until time: Duration?,
        on clock: Timeline,
        _ bell: HostLane.Bell,
        _ rings: inout AsyncStream<Void>.Iterator
    ) async {
        if time == nil { leave(sleeper) }
        guard let time, keepsTime(sleeper, until: time, on: clock, bell) else {
            _ = await rings.next(isolation: #isolation)
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // A timer that is no longer wanted rings no bell.
                guard (try? await clock.sleep(until: time)) != nil else { return }
                bell.yield()
            }
            _ = await rings.next(isolation: #isolation)
            group.cancelAll()
        }
    }

    /// Whether nobody else will ring the bell at that time.
    private func keepsTime(
        _ sleeper: UInt64,
        until time: Duration,
        on clock: Timeline,
        _ bell: HostLane.Bell
    ) -> Bool {
        // The other clock may be any.
        let time = timeline.now + (time - clock.now)
        let (keepsTime, wake) = state.withLock { $0.alarms.sleep(sleeper, until: time, bell: bell) }
        wake?.yield()
        return keepsTime
    }
}

/// A place that was not given.
private struct Refusal: Error {
    let ending: RetryError.Ending
}

extension RetryCoordinator {
    private func add(
        _ pause: ReleaseQueue<HostLane.Bell>.Pause,
        _ target: RetryTarget,
        _ bell: HostLane.Bell
    ) -> Result<UInt64, Refusal> {
        state.withLock { state in
            guard state.shutdown != .cancel else { return .failure(Refusal(ending: .shutDown)) }
            guard let count = state.lanes[target.host]?.queue.count, count < limits.maximumWaiting,
                let ticket = state.lanes[target.host]?.queue.add(target.priority, pause: pause, bell: bell)
            else { return .failure(Refusal(ending: .tooManyWaiting)) }
            return .success(ticket)
        }
    }

    private func step(_ ticket: UInt64, of host: String?) -> (ReleaseQueue<HostLane.Bell>.Step, isShutDown: Bool) {
        let now = timeline.now
        let (step, wake, isShutDown) = state.withLock { state in
            let (step, wake) = state.lanes[host]?.queue.step(ticket, now: now) ?? (.go, nil)
            return (step, wake, state.shutdown == .cancel)
        }
        wake?.yield()
        return (step, isShutDown)
    }

    private func putBack(_ ticket: UInt64, _ target: RetryTarget, _ bell: HostLane.Bell) {
        state.withLock { $0.lanes[target.host]?.queue.putBack(ticket, target.priority, bell: bell) }
    }

    private func remove(_ ticket: UInt64, from host: String?) {
        let wake = state.withLock { $0.lanes[host]?.queue.remove(ticket) }
        wake?.yield()
    }
}
