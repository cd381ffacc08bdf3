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
