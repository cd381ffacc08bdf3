/// What the kernel knows of the traffic of others.
extension CheckSchedule {
    mutating func observed(_ finding: PassiveFinding, at now: Duration) {
        guard isObserving else { return }
        isObserving = false
        let isVoid = course.ignoresObservation
        course.ignoresObservation = false
        // A round tells more, and plans the next observation.
        guard !isVoid, running == nil else { return }
        switch state {
        case .works: observedWhileWorking(finding, at: now)
        case .broken, .portal, .inconclusive: observedWhileBroken(finding, at: now)
        case .unknown, .suspect: break
        }
    }

    private mutating func observedWhileWorking(_ finding: PassiveFinding, at now: Duration) {
        switch finding {
        case .fresh(let age):
            course.lastProof = max(course.lastProof ?? now - age, now - age)
            course.observeAt = now + ScheduleTiming.observation
        case .trouble where believesHints(at: now) && budget.allows(.trouble, isMetered, rounds: 3, at: now):
            suspect(at: now)
        case .silent, .trouble:
            probe(at: now)
        }
    }

    /// Nobody talks: what works must be asked for, now and then.
    private mutating func probe(at now: Duration) {
        let last = [course.lastProof, course.lastCheap, course.latest?.time].compactMap(\.self).max() ?? now
        let due = last + ScheduleTiming.cheapInterval(isMetered: isMetered)
        let isFullDue =
            options.asksOthers && !isMetered
            && course.lastRound.map { now - $0 >= ScheduleTiming.fullInterval(options.place) } != false
        if due > now {
            course.observeAt = min(now + ScheduleTiming.observation, due)
        } else if isFullDue, budget.allows(.anchors, isMetered, at: now) {
            start(wide(anchorsAfter: spread()), .anchors, at: now)
        } else if budget.allows(.idle, isMetered, at: now) {
            start(.cheap, .idle, at: now)
        } else {
            course.observeAt = now + ScheduleTiming.observation
        }
    }

    private mutating func observedWhileBroken(_ finding: PassiveFinding, at now: Duration) {
        course.observeAt = now + ScheduleTiming.observation
        // What answered before the last round failed proves nothing.
        guard case .fresh(let age) = finding, course.lastFailure.map({ now - age > $0 }) != false,
            believesHints(at: now)
        else { return }
        course.retries = 0
        course.disbelievesUntil = now + ScheduleTiming.disbelief
        course.plan = Plan(at: now, kind: narrow, purpose: .trouble)
    }

    func believesHints(at now: Duration) -> Bool { course.disbelievesUntil.map { $0 <= now } ?? true }

    /// Rounds are to decide.
    mutating func suspect(at now: Duration) {
        course.state = .suspect
        course.trial = Trial(began: now, purpose: .trouble, isHint: true)
        course.plan = Plan(at: now, kind: wide(), purpose: .trouble)
    }
}
