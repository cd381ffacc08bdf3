/// The handling of completed rounds.
extension CheckSchedule {
    mutating func roundEnded(_ verdict: CheckVerdict, _ cost: ProbeCost, at now: Duration) {
        guard let round = running else { return }
        running = nil
        budget.spend(cost, on: round.purpose, round.isMetered, at: now)
        if round.isVoid { return }
        if round.kind == .cheap { return cheapRoundEnded(verdict, at: now) }
        let previous = course.latest?.verdict
        course.latest = (verdict, now)
        answer(verdict)
        switch verdict.place {
        // As with a fault, one degraded round is not sufficient.
        case .degraded where notified?.place == .works && verdict.confidence != .proven:
            failed(verdict, previous, round, at: now)
        case .works, .degraded: succeeded(verdict, round, at: now)
        case .inconclusive: decidedNothing(verdict, round, at: now)
        default: failed(verdict, previous, round, at: now)
        }
    }

    private mutating func cheapRoundEnded(_ verdict: CheckVerdict, at now: Duration) {
        course.observeAt = now + ScheduleTiming.observation
        if verdict.isWorking {
            course.lastProof = now
        } else if believesHints(at: now), budget.allows(.trouble, isMetered, rounds: 3, at: now) {
            suspect(at: now)
        }
    }

    // MARK: Success

    private mutating func succeeded(_ verdict: CheckVerdict, _ round: Running, at now: Duration) {
        course.lastProof = now
        let since = course.successSince ?? now
        course.successSince = since
        course.trial?.successes += 1
        if let trial = course.trial, trial.successes < 2 { return goOn(trial, verdict, at: now) }
        // The fault may return soon, so a recovery must last for a while.
        if let notified, notified.isBroken, now - since < ScheduleTiming.recovery {
            course.plan = Plan(at: since + ScheduleTiming.recovery, kind: wide(), purpose: round.decidingPurpose)
            return
        }
        works(verdict, at: now)
    }

    private mutating func works(_ verdict: CheckVerdict, at now: Duration) {
        course.state = .works
        if course.trial?.isHint == true { course.disbelievesUntil = now + ScheduleTiming.disbelief }
        course.trial = nil
        course.brokenSince = nil
        course.plan = nil
        if let session = verdict.session {
            course.plan = Plan(at: now + session, kind: wide(), purpose: .trouble)
        } else if verdict.place == .degraded {
            course.plan = Plan(at: now + ScheduleTiming.fullInterval, kind: wide(), purpose: .trouble)
        }
        course.observeAt = now + ScheduleTiming.observation
        notify(verdict)
    }

    // MARK: Faults

    private mutating func failed(_ verdict: CheckVerdict, _ previous: CheckVerdict?, _ round: Running, at now: Duration)
    {
        course.successSince = nil
        course.lastFailure = now
        let isSure = verdict.confidence == .proven
        if state.isBroken {
            if isSure || previous?.isSame(as: verdict) == true { believe(verdict, at: now) }
            return retry(verdict, at: now)
        }
        var trial = course.trial ?? Trial(began: now, purpose: round.decidingPurpose)
        trial.failures += 1
        course.trial = trial
        guard isSure || trial.failures == 2 else { return goOn(trial, verdict, at: now) }
        if verdict.isWorking { return works(verdict, at: now) }
        believe(verdict, at: now)
        retry(verdict, at: now)
    }

    private mutating func decidedNothing(_ verdict: CheckVerdict, _ round: Running, at now: Duration) {
        if state.isBroken || state == .inconclusive { return retry(verdict, at: now) }
        var trial = course.trial ?? Trial(began: now, purpose: round.decidingPurpose)
        trial.undecided += 1
        course.trial = trial
        goOn(trial, verdict, at: now)
    }

    /// Plans the next round of a suspicion. After the last round, the suspicion ends without a decision.
    private mutating func goOn(_ trial: Trial, _ verdict: CheckVerdict, at now: Duration) {
        course.state = .suspect
        if let next = trial.next {
            course.plan = Plan(at: next, kind: wide(), purpose: trial.purpose)
        } else {
            believe(verdict.place == .inconclusive ? verdict : .undecided(verdict), at: now)
            retry(verdict, at: now)
        }
    }

    private mutating func believe(_ verdict: CheckVerdict, at now: Duration) {
        if !state.isBroken || (state == .portal) != (verdict.place == .portal) { course.retries = 0 }
        course.brokenSince = course.brokenSince ?? now
        course.trial = nil
        course.state = ScheduleState(verdict.place)
        notify(verdict)
    }

    /// Plans the next round during a fault.
    private mutating func retry(_ verdict: CheckVerdict, at now: Duration) {
        course.observeAt = now + ScheduleTiming.observation
        let age = now - (course.brokenSince ?? now)
        let delay: Duration
        if state == .portal {
            let wait =
                options.isAwaited
                ? ScheduleTiming.awaitedPortal : ScheduleTiming.portal(course.retries) * draw(ScheduleTiming.jitter)
            delay = verdict.session.map { min($0, ScheduleTiming.longestPortalWait) } ?? wait
        } else {
            delay =
                ScheduleTiming.retry(course.retries, isMetered: isMetered, brokenFor: age) * draw(ScheduleTiming.jitter)
        }
        course.retries += 1
        course.plan = Plan(at: now + delay, kind: narrow, purpose: .trouble)
    }
}

extension ScheduleState {
    var isBroken: Bool {
        switch self {
        case .broken, .portal: true
        case .unknown, .works, .suspect, .inconclusive: false
        }
    }
}

extension CheckVerdict {
    /// True if the verdict is a known fault.
    var isBroken: Bool { ScheduleState(place).isBroken }

    /// The remaining time of the session according to the captive portal API.
    fileprivate var session: Duration? {
        let seconds = evidence.lazy.compactMap(\.evidence.portal?.secondsRemaining).first
        return seconds.map {
            min(
                max(ScheduleTiming.session.lowerBound, .seconds(Int64(clamping: $0))),
                ScheduleTiming.session.upperBound
            )
        }
    }

    /// Creates the verdict for rounds with different results.
    fileprivate static func undecided(_ last: CheckVerdict) -> CheckVerdict {
        CheckVerdict(
            Finding(
                .inconclusive,
                .notEnoughEvidence,
                .suspected,
                "rounds differ; the last result was: \(last.text)",
                last.evidence
            )
        )
    }
}
