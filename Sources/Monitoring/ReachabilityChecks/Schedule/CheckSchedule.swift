/// Decides when a line is checked and which verdicts are notified. It is a value that takes events and returns actions.
///
/// It has no clock, no random numbers of its own and no socket. Times count from a fixed moment and never decrease. At most one round runs
/// at a time, the timer is never set to the past, and no verdict is notified twice in a row.
struct CheckSchedule: Sendable {
    struct Options: Hashable, Sendable {
        /// True if there is a target or an anchor, so that rounds may contact more than the local network.
        var contactsOthers = false
        /// The maximum random delay after a change before anchors are probed.
        var spread = Duration.milliseconds(250)
        /// The position of this machine among others, from 0 to 1. The interval between anchor rounds depends on it, so that machines that
        /// start at the same time do not stay synchronised.
        var place = 0.5
        var limits = CheckBudget.Limits()
        /// True if the caller waits for the first success.
        var isAwaited = false
    }

    let options: Options
    /// The cost of past rounds, and its limits.
    var budget: CheckBudget
    /// The last notified verdict.
    var notified: CheckVerdict?
    var line: CheckLine?
    var pathState = PathState()
    var running: Running?
    var isObserving = false
    private var lastStart: Duration?
    private var armed: Duration?
    private var chance: any RandomNumberGenerator & Sendable
    var actions: [ScheduleAction] = []

    /// - Parameter chance: The random numbers for delays.
    init(
        _ options: Options = Options(),
        chance: sending some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        self.chance = chance
        budget = CheckBudget(options.limits)
    }

    var state: ScheduleState { pathState.state }

    /// Processes an event, and returns the resulting actions.
    mutating func handle(_ event: ScheduleEvent, at now: Duration) -> [ScheduleAction] {
        defer { actions = [] }
        switch event {
        case .path(let line): take(line, at: now)
        case .portalChanged, .resolverChanged, .resumed: if line?.obstacle == nil { restart(at: now) }
        case .roundEnded(let verdict, let cost): roundEnded(verdict, cost, at: now)
        case .observed(let finding): observed(finding, at: now)
        case .timer: armed = nil
        }
        proceed(at: now)
        return actions
    }

    // MARK: Due work

    private mutating func proceed(at now: Duration) {
        if let plan = pathState.plan, plan.at <= now, running == nil { start(plan, at: now) }
        if let time = pathState.observeAt, time <= now, running == nil, !isObserving {
            isObserving = true
            pathState.observeAt = nil
            actions.append(.observe)
        }
        // Running work ends with an event, so it needs no timer.
        let times =
            running == nil ? [pathState.plan?.at, isObserving ? nil : pathState.observeAt].compactMap(\.self) : []
        guard times.min() != armed else { return }
        armed = times.min()
        actions.append(.arm(armed))
    }

    private mutating func start(_ plan: Plan, at now: Duration) {
        let earliest = lastStart.map { $0 + ScheduleTiming.spacing } ?? now
        guard earliest <= now else {
            pathState.plan?.at = earliest
            return
        }
        guard pathState.isDeciding || budget.allows(plan.purpose, isMetered, at: now) else {
            let renewal = budget.renewal(of: plan.purpose, isMetered, at: now)
            pathState.plan?.at = renewal
            return
        }
        pathState.plan = nil
        start(plan.kind, plan.purpose, at: now)
    }

    /// Starts a round in addition to the planned one.
    mutating func start(_ kind: RoundKind, _ purpose: CheckBudget.Purpose, at now: Duration) {
        if kind == .minimal { pathState.lastMinimal = now } else { pathState.lastRound = now }
        pathState.observeAt = nil
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

    /// Reports a success to a caller that waits for it.
    mutating func answer(_ verdict: CheckVerdict) {
        if options.isAwaited, verdict.isWorking { actions.append(.answer(verdict)) }
    }

    // MARK: Choosing the round

    var isMetered: Bool { line?.isMetered == true }

    /// Returns the most complete round that is allowed. Its verdict is notified.
    func wide(anchorsAfter delay: Duration = .zero) -> RoundKind {
        !options.contactsOthers ? .private : isMetered ? .brief : .full(anchorsAfter: delay)
    }

    /// The round that is repeated during a fault.
    var narrow: RoundKind { options.contactsOthers ? .brief : .private }

    mutating func spread() -> Duration { options.spread * draw(0...1) }

    mutating func draw(_ range: ClosedRange<Double>) -> Double {
        func draw(_ chance: inout some RandomNumberGenerator) -> Double { .random(in: range, using: &chance) }
        return draw(&chance)
    }
}

extension CheckVerdict {
    /// True if the target can be used.
    var isWorking: Bool { failurePoint == .works || failurePoint == .degraded }

    /// Returns whether place and reason are equal. Evidence and text differ in each round.
    func isSame(as other: CheckVerdict) -> Bool { failurePoint == other.failurePoint && reason == other.reason }
}

extension CheckSchedule {
    /// The state and the plans for one path. A new path discards them.
    struct PathState: Sendable {
        var state = ScheduleState.unknown
        /// The last round that was not a minimal one.
        var latest: (verdict: CheckVerdict, time: Duration)?
        var trial: Trial?
        /// The start of the current series of successes.
        var successSince: Duration?
        /// The last time at which a host beyond the gateway answered.
        var lastProof: Duration?
        var lastFailure: Duration?
        var lastMinimal: Duration?
        var lastRound: Duration?
        /// The time until which passive proof is ignored, because probes contradicted it.
        var ignoresHintsUntil: Duration?
        /// The start of the fault.
        var brokenSince: Duration?
        /// The number of rounds planned since the start of the fault.
        var retries = 0
        var plan: Plan?
        var observeAt: Duration?
        /// True if the running observation is about an earlier path.
        var ignoresObservation = false

        /// Whether rounds are deciding a verdict. They then continue regardless of the budget.
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
        /// True if the round is about an earlier path.
        var isVoid = false

        /// The purpose of the rounds that decide together with this one. Rounds after a change have no limit.
        var decidingPurpose: CheckBudget.Purpose { purpose == .event ? .event : .trouble }
    }

    /// A series of up to three rounds that decide whether there is a fault. Two equal results are sufficient.
    struct Trial: Sendable {
        let began: Duration
        let purpose: CheckBudget.Purpose
        /// Whether passive observation or a minimal probe started the trial, and not a round.
        var isHint = false
        var successes = 0
        var failures = 0
        var undecided = 0

        /// The start of the next round; nil after the last one.
        var next: Duration? {
            let rounds = successes + failures + undecided
            return rounds < ScheduleTiming.trial.count ? began + ScheduleTiming.trial[rounds] : nil
        }
    }
}

/// The handling of external events.
extension CheckSchedule {
    mutating func take(_ line: CheckLine, at now: Duration) {
        let before = self.line
        self.line = line
        guard before?.generation != line.generation || before?.obstacle != line.obstacle else { return }
        // The first path needs no time to settle.
        restart(after: before == nil ? .zero : ScheduleTiming.settle, at: now)
        guard let obstacle = line.obstacle else { return }
        pathState.plan = nil
        pathState.state = ScheduleState(obstacle.failurePoint)
        notify(obstacle)
    }

    /// Discards the state of the path, and plans a new round.
    mutating func restart(after delay: Duration = ScheduleTiming.settle, at now: Duration) {
        guard line != nil else { return }
        pathState = PathState()
        pathState.ignoresObservation = isObserving
        if running?.isVoid == false {
            running?.isVoid = true
            actions.append(.cancelRound)
        }
        pathState.plan = Plan(at: now + delay, kind: wide(anchorsAfter: spread()), purpose: .event)
    }
}

/// The handling of observations of other programs' connections.
extension CheckSchedule {
    mutating func observed(_ finding: PassiveFinding, at now: Duration) {
        guard isObserving else { return }
        isObserving = false
        let isVoid = pathState.ignoresObservation
        pathState.ignoresObservation = false
        // A running round is more precise, and plans the next observation.
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
            pathState.lastProof = max(pathState.lastProof ?? now - age, now - age)
            pathState.observeAt = now + ScheduleTiming.observation
        case .trouble where acceptsHints(at: now) && budget.allows(.trouble, isMetered, rounds: 3, at: now):
            suspect(at: now)
        case .silent, .trouble:
            probe(at: now)
        }
    }

    /// Starts a probe when one is due, because no connection of another program shows that the network works.
    private mutating func probe(at now: Duration) {
        let last = [pathState.lastProof, pathState.lastMinimal, pathState.latest?.time].compactMap(\.self).max() ?? now
        let due = last + ScheduleTiming.minimalInterval(isMetered: isMetered)
        let isFullDue =
            options.contactsOthers && !isMetered
            && pathState.lastRound.map { now - $0 >= ScheduleTiming.fullInterval(options.place) } != false
        if due > now {
            pathState.observeAt = min(now + ScheduleTiming.observation, due)
        } else if isFullDue, budget.allows(.anchors, isMetered, at: now) {
            start(wide(anchorsAfter: spread()), .anchors, at: now)
        } else if budget.allows(.idle, isMetered, at: now) {
            start(.minimal, .idle, at: now)
        } else {
            pathState.observeAt = now + ScheduleTiming.observation
        }
    }

    private mutating func observedWhileBroken(_ finding: PassiveFinding, at now: Duration) {
        pathState.observeAt = now + ScheduleTiming.observation
        // An answer that is older than the last failed round proves nothing.
        guard case .fresh(let age) = finding, pathState.lastFailure.map({ now - age > $0 }) != false,
            acceptsHints(at: now)
        else { return }
        pathState.retries = 0
        pathState.ignoresHintsUntil = now + ScheduleTiming.disbelief
        pathState.plan = Plan(at: now, kind: narrow, purpose: .trouble)
    }

    func acceptsHints(at now: Duration) -> Bool { pathState.ignoresHintsUntil.map { $0 <= now } ?? true }

    /// Starts the rounds that decide about a suspicion.
    mutating func suspect(at now: Duration) {
        pathState.state = .suspect
        pathState.trial = Trial(began: now, purpose: .trouble, isHint: true)
        pathState.plan = Plan(at: now, kind: wide(), purpose: .trouble)
    }
}
