/// What comes from outside.
extension CheckSchedule {
    mutating func take(_ line: CheckLine, at now: Duration) {
        let before = self.line
        self.line = line
        guard before?.generation != line.generation || before?.obstacle != line.obstacle else { return }
        // At first nothing has changed that could settle.
        beginAnew(after: before == nil ? .zero : ScheduleTiming.settle, at: now)
        guard let obstacle = line.obstacle else { return }
        course.plan = nil
        course.state = ScheduleState(obstacle.place)
        notify(obstacle)
        answer(obstacle)
    }

    /// Forgets what was found out, and checks again.
    mutating func beginAnew(after delay: Duration = ScheduleTiming.settle, at now: Duration) {
        guard line != nil else { return }
        course = Course()
        course.ignoresObservation = isObserving
        if running?.isVoid == false {
            running?.isVoid = true
            actions.append(.cancelRound)
        }
        course.plan = Plan(at: now + delay, kind: wide(anchorsAfter: spread()), purpose: .event)
    }

    mutating func ask(_ caller: UInt64, at now: Duration) {
        if let verdict = line?.obstacle ?? recent(at: now) {
            actions.append(.answer(caller, verdict))
        } else {
            askers.append(caller)
            runSoon(at: now)
        }
    }

    mutating func wait(_ caller: UInt64, at now: Duration) {
        let recent = recent(at: now)
        if let recent, recent.isWorking, line?.obstacle == nil { return actions.append(.answer(caller, recent)) }
        waiters.append(caller)
        if recent == nil { runSoon(at: now) }
        if state == .portal, let plan = course.plan {
            course.plan?.at = min(plan.at, now + ScheduleTiming.awaitedPortal)
        }
    }

    private func recent(at now: Duration) -> CheckVerdict? {
        course.latest.flatMap { now - $0.time < ScheduleTiming.reuse ? $0.verdict : nil }
    }

    /// Lets those who come share the round that runs or is about to.
    private mutating func runSoon(at now: Duration) {
        guard let line, line.obstacle == nil else { return }
        if let running, !running.isVoid, running.kind != .cheap { return }
        if course.plan?.purpose == .event { return }
        course.plan = Plan(at: now, kind: wide(), purpose: .event)
    }
}
