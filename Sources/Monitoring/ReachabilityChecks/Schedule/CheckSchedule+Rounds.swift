/// The handling of completed rounds.
extension CheckSchedule {
    mutating func roundEnded(_ verdict: CheckVerdict, _ cost: ProbeCost, at now: Duration) {
        guard let round = running else { return }
        running = nil
        budget.spend(cost, on: round.purpose, round.isMetered, at: now)
        if round.isVoid { return }
        if round.kind == .minimal { return minimalRoundEnded(verdict, at: now) }
        let previous = pathState.latest?.verdict
        pathState.latest = (verdict, now)
        answer(verdict)
        switch verdict.failurePoint {
        // As with a fault, one degraded round is not sufficient.
        case .degraded where notified?.failurePoint == .works && verdict.confidence != .proven:
            failed(verdict, previous, round, at: now)
        case .works, .degraded: succeeded(verdict, round, at: now)
        case .inconclusive: decidedNothing(verdict, round, at: now)
        default: failed(verdict, previous, round, at: now)
        }
    }

    private mutating func minimalRoundEnded(_ verdict: CheckVerdict, at now: Duration) {
        pathState.observeAt = now + ScheduleTiming.observation
        if verdict.isWorking {
            pathState.lastProof = now
        } else if acceptsHints(at: now), budget.allows(.trouble, isMetered, rounds: 3, at: now) {
            suspect(at: now)
        }
    }

    // MARK: Success

    private mutating func succeeded(_ verdict: CheckVerdict, _ round: Running, at now: Duration) {
        pathState.lastProof = now
        let since = pathState.successSince ?? now
        pathState.successSince = since
        pathState.trial?.successes += 1
        if let trial = pathState.trial, trial.successes < 2 { return planNextRound(trial, verdict, at: now) }
        // The fault may return soon, so a recovery must last for a while.
        if let notified, notified.isBroken, now - since < ScheduleTiming.recovery {
            pathState.plan = Plan(at: since + ScheduleTiming.recovery, kind: wide(), purpose: round.decidingPurpose)
            return
        }
        works(verdict, at: now)
    }

    private mutating func works(_ verdict: CheckVerdict, at now: Duration) {
        pathState.state = .works
        if pathState.trial?.isHint == true { pathState.ignoresHintsUntil = now + ScheduleTiming.disbelief }
        pathState.trial = nil
        pathState.brokenSince = nil
        pathState.plan = nil
        if let session = verdict.session {
            pathState.plan = Plan(at: now + session, kind: wide(), purpose: .trouble)
        } else if verdict.failurePoint == .degraded {
            pathState.plan = Plan(at: now + ScheduleTiming.fullInterval, kind: wide(), purpose: .trouble)
        }
        pathState.observeAt = now + ScheduleTiming.observation
        notify(verdict)
    }

    // MARK: Faults

    private mutating func failed(_ verdict: CheckVerdict, _ previous: CheckVerdict?, _ round: Running, at now: Duration)
    {
        pathState.successSince = nil
        pathState.lastFailure = now
        let isSure = verdict.confidence == .proven
        if state.isBroken {
            if isSure || previous?.isSame(as: verdict) == true { accept(verdict, at: now) }
            return retry(verdict, at: now)
        }
        var trial = pathState.trial ?? Trial(began: now, purpose: round.decidingPurpose)
        trial.failures += 1
        pathState.trial = trial
        guard isSure || trial.failures == 2 else { return planNextRound(trial, verdict, at: now) }
        if verdict.isWorking { return works(verdict, at: now) }
        accept(verdict, at: now)
        retry(verdict, at: now)
    }

    private mutating func decidedNothing(_ verdict: CheckVerdict, _ round: Running, at now: Duration) {
        if state.isBroken || state == .inconclusive { return retry(verdict, at: now) }
        var trial = pathState.trial ?? Trial(began: now, purpose: round.decidingPurpose)
        trial.undecided += 1
        pathState.trial = trial
        planNextRound(trial, verdict, at: now)
    }

    /// Plans the next round of a suspicion. After the last round, the suspicion ends without a decision.
    private mutating func planNextRound(_ trial: Trial, _ verdict: CheckVerdict, at now: Duration) {
        pathState.state = .suspect
        if let next = trial.next {
            pathState.plan = Plan(at: next, kind: wide(), purpose: trial.purpose)
        } else {
            accept(verdict.failurePoint == .inconclusive ? verdict : .undecided(verdict), at: now)
            retry(verdict, at: now)
        }
    }

    private mutating func accept(_ verdict: CheckVerdict, at now: Duration) {
        if !state.isBroken || (state == .portal) != (verdict.failurePoint == .portal) { pathState.retries = 0 }
        pathState.brokenSince = pathState.brokenSince ?? now
        pathState.trial = nil
        pathState.state = ScheduleState(verdict.failurePoint)
        notify(verdict)
    }

    /// Plans the next round during a fault.
    private mutating func retry(_ verdict: CheckVerdict, at now: Duration) {
        pathState.observeAt = now + ScheduleTiming.observation
        let age = now - (pathState.brokenSince ?? now)
        let delay: Duration
        if state == .portal {
            let wait =
                options.isAwaited
                ? ScheduleTiming.awaitedPortal : ScheduleTiming.portal(pathState.retries) * draw(ScheduleTiming.jitter)
            delay = verdict.session.map { min($0, ScheduleTiming.longestPortalWait) } ?? wait
        } else {
            delay =
                ScheduleTiming.retry(pathState.retries, isMetered: isMetered, brokenFor: age)
                * draw(ScheduleTiming.jitter)
        }
        pathState.retries += 1
        pathState.plan = Plan(at: now + delay, kind: narrow, purpose: .trouble)
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
    var isBroken: Bool { ScheduleState(failurePoint).isBroken }

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
                "rounds had different results; the last one was: \(last.text)",
                last.evidence
            )
        )
    }
}
