/// When to check a line, and what to say of it: a value that is told what happens, and says what is to be done.
///
/// It has no clock, no chance of its own and no socket. A moment is the time since any fixed one, and never goes back. At most one
/// round runs at a time, the timer is never armed for the past, and no verdict is notified twice in a row.
package struct CheckSchedule: Sendable {
    /// What the user chooses.
    package struct Options: Hashable, Sendable {
        /// Whether there is a target or an anchor, so that a round may be more than private.
        package var asksOthers: Bool
        /// Anchors are asked at random within so long after a change.
        package var spread: Duration
        /// The place of this machine among others that have begun at the same moment, 0 to 1: they ask anchors again at distances that
        /// differ, so that after some of them no two ask together.
        package var place: Double
        package var limits: CheckBudget.Limits

        package init(
            asksOthers: Bool = false,
            spread: Duration = .milliseconds(250),
            place: Double = 0.5,
            limits: CheckBudget.Limits = .init()
        ) {
            (self.asksOthers, self.spread, self.place, self.limits) = (asksOthers, spread, place, limits)
        }
    }

    let options: Options
    /// What was sent, and what may be.
    package internal(set) var budget: CheckBudget
    /// The verdict that was notified last; nil for none.
    package internal(set) var notified: CheckVerdict?
    var line: CheckLine?
    var course = Course()
    var running: Running?
    var isObserving = false
    var askers: [UInt64] = []
    var waiters: [UInt64] = []
    private var lastStart: Duration?
    private var armed: Duration?
    private var chance: any RandomNumberGenerator & Sendable
    var actions: [ScheduleAction] = []

    /// - Parameter chance: what spreads rounds in time.
    package init(
        _ options: Options = Options(),
        chance: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        self.chance = chance
        budget = CheckBudget(options.limits)
    }

    /// How it stands.
    package var state: ScheduleState { course.state }

    /// Takes what happened, and says what is to be done, in this order.
    package mutating func handle(_ event: ScheduleEvent, at now: Duration) -> [ScheduleAction] {
        defer { actions = [] }
        switch event {
        case .path(let line): take(line, at: now)
        case .portalChanged, .resolverChanged, .resumed: if line?.obstacle == nil { beginAnew(at: now) }
        case .asked(let caller): ask(caller, at: now)
        case .waiting(let caller): wait(caller, at: now)
        case .left(let caller):
            askers.removeAll { $0 == caller }
            waiters.removeAll { $0 == caller }
        case .roundEnded(let verdict, let cost): roundEnded(verdict, cost, at: now)
        case .observed(let finding): observed(finding, at: now)
        case .timer: armed = nil
        }
        proceed(at: now)
        return actions
    }

    // MARK: Doing what is due

    private mutating func proceed(at now: Duration) {
        if let plan = course.plan, plan.at <= now, running == nil { start(plan, at: now) }
        if let time = course.observeAt, time <= now, running == nil, !isObserving {
            isObserving = true
            course.observeAt = nil
            actions.append(.observe)
        }
        // What is under way ends by itself.
        let times = running == nil ? [course.plan?.at, isObserving ? nil : course.observeAt].compactMap(\.self) : []
        guard times.min() != armed else { return }
        armed = times.min()
        actions.append(.arm(armed))
    }

    private mutating func start(_ plan: Plan, at now: Duration) {
        let earliest = lastStart.map { $0 + ScheduleTiming.spacing } ?? now
        guard earliest <= now else {
            course.plan?.at = earliest
            return
        }
        guard course.isDeciding || budget.allows(plan.purpose, isMetered, at: now) else {
            let renewal = budget.renewal(of: plan.purpose, isMetered, at: now)
            course.plan?.at = renewal
            return
        }
        course.plan = nil
        start(plan.kind, plan.purpose, at: now)
    }

    /// Starts a round beside the one that is planned.
    mutating func start(_ kind: RoundKind, _ purpose: CheckBudget.Purpose, at now: Duration) {
        if kind == .cheap { course.lastCheap = now } else { course.lastRound = now }
        course.observeAt = nil
        lastStart = now
        running = Running(kind: kind, purpose: purpose, isMetered: isMetered)
        actions.append(.run(kind))
    }

    // MARK: Notifying

    mutating func notify(_ verdict: CheckVerdict) {
        guard notified?.isSame(as: verdict) != true else { return }
        notified = verdict
        actions.append(.notify(verdict))
    }

    /// Answers those who asked, and where it works those who wait for that.
    mutating func answer(_ verdict: CheckVerdict) {
        actions += askers.map { .answer($0, verdict) }
        askers = []
        guard verdict.isWorking else { return }
        actions += waiters.map { .answer($0, verdict) }
        waiters = []
    }

    // MARK: Choosing

    var isMetered: Bool { line?.isMetered == true }

    /// All that may be asked, for a verdict that holds.
    func wide(anchorsAfter delay: Duration = .zero) -> RoundKind {
        !options.asksOthers ? .private : isMetered ? .brief : .full(anchorsAfter: delay)
    }

    /// What is asked again and again.
    var narrow: RoundKind { options.asksOthers ? .brief : .private }

    mutating func spread() -> Duration { options.spread * draw(0...1) }

    mutating func draw(_ range: ClosedRange<Double>) -> Double {
        func draw(_ chance: inout some RandomNumberGenerator) -> Double { .random(in: range, using: &chance) }
        return draw(&chance)
    }
}

extension CheckVerdict {
    /// Whether nothing stands in the way of who waits.
    package var isWorking: Bool { place == .works || place == .degraded }

    /// Whether it would be no news after the other: evidence and words change with each round.
    package func isSame(as other: CheckVerdict) -> Bool { place == other.place && reason == other.reason }
}

extension CheckSchedule {
    /// What is known and planned for one path, and void with it.
    struct Course: Hashable, Sendable {
        var state = ScheduleState.unknown
        /// The last round that was more than cheap.
        var latest: (verdict: CheckVerdict, time: Duration)? {
            get { latestVerdict.map { ($0, latestTime) } }
            set { (latestVerdict, latestTime) = (newValue?.verdict, newValue?.time ?? .zero) }
        }
        private var latestVerdict: CheckVerdict?
        private var latestTime = Duration.zero
        var trial: Trial?
        /// When the successes began that no failure has interrupted.
        var successSince: Duration?
        /// When something beyond the gateway is known to have answered.
        var lastProof: Duration?
        var lastFailure: Duration?
        var lastCheap: Duration?
        var lastRound: Duration?
        /// Until then passive proof is not believed, for probes have just said something else.
        var disbelievesUntil: Duration?
        /// When it broke, and how many rounds were planned since.
        var brokenSince: Duration?
        var retries = 0
        var plan: Plan?
        var observeAt: Duration?
        /// Whether the observation that is under way is about an older path.
        var ignoresObservation = false

        /// Whether rounds have begun to decide something, and go on whatever they cost.
        var isDeciding: Bool { trial != nil || successSince != nil && state != .works }
    }

    /// A round to come.
    struct Plan: Hashable, Sendable {
        var at: Duration
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
    }

    /// A round that is under way.
    struct Running: Hashable, Sendable {
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
        var isMetered: Bool
        /// Whether it is about an older path.
        var isVoid = false

        /// What the rounds are run for that decide with this one. Those after a change have no limit.
        var decidingPurpose: CheckBudget.Purpose { purpose == .event ? .event : .trouble }
    }

    /// Rounds that decide together: two of three.
    struct Trial: Hashable, Sendable {
        let began: Duration
        let purpose: CheckBudget.Purpose
        /// Whether no round, but passive proof or a cheap probe has raised it.
        var isHint = false
        var successes = 0
        var failures = 0
        var undecided = 0

        /// When the next of them begins; nil after the last.
        var next: Duration? {
            let rounds = successes + failures + undecided
            return rounds < ScheduleTiming.trial.count ? began + ScheduleTiming.trial[rounds] : nil
        }
    }
}

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
