/// Decides when a line is checked, and which verdicts are notified. A value that takes events and returns actions.
///
/// It has no clock, no random numbers of its own and no socket. A time counts from any fixed moment, and never goes back. At most one
/// round runs at a time, the timer is never armed for the past, and no verdict is notified twice in a row.
struct CheckSchedule: Sendable {
    struct Options: Hashable, Sendable {
        /// Whether there is a target or an anchor, so that a round may be more than private.
        var asksOthers = false
        /// The time after a change within which anchors are asked, at random.
        var spread = Duration.milliseconds(250)
        /// The place of this machine among others, 0 to 1. The interval between anchor rounds depends on it, so that machines that begin
        /// together do not stay together.
        var place = 0.5
        var limits = CheckBudget.Limits()
        /// Whether the caller waits for the first success.
        var isAwaited = false
    }

    let options: Options
    /// The cost of past rounds, and the limits.
    var budget: CheckBudget
    /// The last notified verdict.
    var notified: CheckVerdict?
    var line: CheckLine?
    var course = Course()
    var running: Running?
    var isObserving = false
    private var lastStart: Duration?
    private var armed: Duration?
    private var chance: any RandomNumberGenerator & Sendable
    var actions: [ScheduleAction] = []

    /// - Parameter chance: The random numbers that spread rounds in time.
    init(
        _ options: Options = Options(),
        chance: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        self.chance = chance
        budget = CheckBudget(options.limits)
    }

    var state: ScheduleState { course.state }

    /// Takes an event, and returns the actions in sequence.
    mutating func handle(_ event: ScheduleEvent, at now: Duration) -> [ScheduleAction] {
        defer { actions = [] }
        switch event {
        case .path(let line): take(line, at: now)
        case .portalChanged, .resolverChanged, .resumed: if line?.obstacle == nil { beginAnew(at: now) }
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
        // Running work ends with an event.
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

    /// Answers a caller that waits for the first success.
    mutating func answer(_ verdict: CheckVerdict) {
        if options.isAwaited, verdict.isWorking { actions.append(.answer(verdict)) }
    }

    // MARK: Choosing

    var isMetered: Bool { line?.isMetered == true }

    /// The most complete round that is allowed, for a verdict that is notified.
    func wide(anchorsAfter delay: Duration = .zero) -> RoundKind {
        !options.asksOthers ? .private : isMetered ? .brief : .full(anchorsAfter: delay)
    }

    /// The round that is repeated.
    var narrow: RoundKind { options.asksOthers ? .brief : .private }

    mutating func spread() -> Duration { options.spread * draw(0...1) }

    mutating func draw(_ range: ClosedRange<Double>) -> Double {
        func draw(_ chance: inout some RandomNumberGenerator) -> Double { .random(in: range, using: &chance) }
        return draw(&chance)
    }
}

extension CheckVerdict {
    /// Whether the target is usable.
    var isWorking: Bool { place == .works || place == .degraded }

    /// Whether place and reason are the same. Evidence and text change with each round.
    func isSame(as other: CheckVerdict) -> Bool { place == other.place && reason == other.reason }
}

extension CheckSchedule {
    /// The state and the plans for one path, which are void with it.
    struct Course: Sendable {
        var state = ScheduleState.unknown
        /// The last round that was more than cheap.
        var latest: (verdict: CheckVerdict, time: Duration)?
        var trial: Trial?
        /// The start of the successes that no failure has interrupted.
        var successSince: Duration?
        /// The last time at which a host beyond the gateway answered.
        var lastProof: Duration?
        var lastFailure: Duration?
        var lastCheap: Duration?
        var lastRound: Duration?
        /// Until then passive proof is ignored, because probes contradicted it.
        var disbelievesUntil: Duration?
        /// The start of the fault, and the number of rounds planned since.
        var brokenSince: Duration?
        var retries = 0
        var plan: Plan?
        var observeAt: Duration?
        /// Whether the running observation is about an older path.
        var ignoresObservation = false

        /// Whether rounds decide a verdict, and so continue at any cost.
        var isDeciding: Bool { trial != nil || successSince != nil && state != .works }
    }

    /// A planned round.
    struct Plan: Sendable {
        var at: Duration
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
    }

    /// A running round.
    struct Running: Sendable {
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
        var isMetered: Bool
        /// Whether it is about an older path.
        var isVoid = false

        /// The purpose of the rounds that decide together with this one. Rounds after a change have no limit.
        var decidingPurpose: CheckBudget.Purpose { purpose == .event ? .event : .trouble }
    }

    /// Rounds that decide together, by two of three.
    struct Trial: Sendable {
        let began: Duration
        let purpose: CheckBudget.Purpose
        /// Whether passive proof or a cheap probe began it, and not a round.
        var isHint = false
        var successes = 0
        var failures = 0
        var undecided = 0

        /// The start of the next round; nil after the last.
        var next: Duration? {
            let rounds = successes + failures + undecided
            return rounds < ScheduleTiming.trial.count ? began + ScheduleTiming.trial[rounds] : nil
        }
    }
}

/// Events from outside.
extension CheckSchedule {
    mutating func take(_ line: CheckLine, at now: Duration) {
        let before = self.line
        self.line = line
        guard before?.generation != line.generation || before?.obstacle != line.obstacle else { return }
        // The first path has nothing to settle.
        beginAnew(after: before == nil ? .zero : ScheduleTiming.settle, at: now)
        guard let obstacle = line.obstacle else { return }
        course.plan = nil
        course.state = ScheduleState(obstacle.place)
        notify(obstacle)
    }

    /// Discards the state, and plans a new round.
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
}

/// Observations of connections of other programs.
extension CheckSchedule {
    mutating func observed(_ finding: PassiveFinding, at now: Duration) {
        guard isObserving else { return }
        isObserving = false
        let isVoid = course.ignoresObservation
        course.ignoresObservation = false
        // A round is more precise, and plans the next observation.
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

    /// Probes now and then, because no connection of another program shows that the network works.
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
        // An answer before the last failed round proves nothing.
        guard case .fresh(let age) = finding, course.lastFailure.map({ now - age > $0 }) != false,
            believesHints(at: now)
        else { return }
        course.retries = 0
        course.disbelievesUntil = now + ScheduleTiming.disbelief
        course.plan = Plan(at: now, kind: narrow, purpose: .trouble)
    }

    func believesHints(at now: Duration) -> Bool { course.disbelievesUntil.map { $0 <= now } ?? true }

    /// Begins rounds that decide.
    mutating func suspect(at now: Duration) {
        course.state = .suspect
        course.trial = Trial(began: now, purpose: .trouble, isHint: true)
        course.plan = Plan(at: now, kind: wide(), purpose: .trouble)
    }
}
