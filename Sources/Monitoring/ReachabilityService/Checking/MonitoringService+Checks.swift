import LinuxSupport
import NetworkReachability
package import ReachabilityLedger

/// What was found of a target, and when.
package struct CheckStatus: Sendable {
    package let finding: CheckFinding
    /// What the books go by, for which this one may not be enough yet; nil where nothing is told along this path.
    package var told: CheckFinding?
    /// When the check began and ended.
    package let begun: LedgerInstant
    package let ended: LedgerInstant
}

/// The checks of one target: who makes them, and what they come to.
struct CheckWatch: Sendable {
    let settings: CheckSettings
    let prober: any TargetProbing
    let checker: TargetChecker
    var course: CheckCourse
    /// How long the first check waits, so that not all are at once.
    var delay: Duration
    /// Grows with each path; what was found along an older one is void.
    private(set) var turn: UInt64 = 0
    /// What the kernel said last; nil where there is nothing to be checked.
    private(set) var path: NetworkPath?
    /// When somebody asked for a check last.
    var asked: LedgerInstant?

    init(
        _ settings: CheckSettings,
        _ prober: any TargetProbing,
        _ checker: TargetChecker,
        _ course: CheckCourse,
        after delay: Duration
    ) {
        (self.settings, self.prober, self.checker, self.course, self.delay) = (settings, prober, checker, course, delay)
    }

    /// Takes what the kernel says, and has a check made where there is a way.
    ///
    /// - Parameter uncertainty: How much earlier the path may have come, if the kernel reported when; nil if it did not.
    mutating func take(_ path: NetworkPath, at now: LedgerInstant, uncertainty: Duration? = nil) {
        guard path.mayBeChecked else {
            self.path = nil
            turn += 1
            course.end(at: now)
            prober.forget()
            return checker.halt()
        }
        if let before = self.path, before.leads(as: path) { return }
        let isBack = self.path?.status.isReachable != true && path.status.isReachable
        self.path = path
        // Mostly the name service answers before.
        if path.isAboutName { delay = max(delay, Self.patience) }
        begin(at: now, returned: isBack ? uncertainty : nil)
    }

    /// How long a name may take to get an address before a check finds out why it has none.
    private static let patience = Duration.seconds(2)

    /// Whether a check along this path, which has returned a moment ago, has not ended yet.
    func isUndecided(at now: LedgerInstant) -> Bool {
        path != nil && course.told == nil && now - course.since <= Self.longestCheck
    }

    /// A check that takes longer decides nothing in time.
    private static let longestCheck = Duration.seconds(30)

    /// What was found holds no more: a check is made, if there is a path.
    mutating func begin(at now: LedgerInstant, returned uncertainty: Duration? = nil) {
        guard path != nil else { return }
        turn += 1
        course.begin(at: now, returned: uncertainty)
        prober.forget()
        checker.go(after: delay)
        delay = .zero
    }
}

extension NetworkPath {
    /// Whether a check can find out more: packets leave, or it is only the name that has no address.
    var mayBeChecked: Bool { status.isReachable || isAboutName }

    /// Whether it is only the name that has no address, or none yet.
    fileprivate var isAboutName: Bool {
        !status.isReachable && reason.map { Attributor.nameReasons.contains($0.rawValue) } == true
    }

    /// Whether packets take the same way.
    fileprivate func leads(as other: NetworkPath) -> Bool {
        status == other.status && interface == other.interface && gateway == other.gateway && source == other.source
    }
}

extension MonitoringService {
    /// From one target's first check to the next one's.
    private static let spread = Duration.milliseconds(5)

    /// Makes ready to check a target as it wants to be, or not at all. What was found before is void.
    func setChecks(of target: ServiceTarget) {
        let name = target.name
        let watch = target.checks.map { settings in
            let prober = makeProber(target, settings)
            let checker = TargetChecker { [weak self] in await self?.check(name) }
            let boot = clock.monitor.boot
            return state.withLock { state in
                let course = CheckCourse(settings, of: name, at: state.line.instant(at: boot))
                let delay = min(Self.spread * state.checks.count, settings.interval)
                return CheckWatch(settings, prober, checker, course, after: delay)
            }
        }
        let previous = state.withLock { state in
            state.findings[name] = nil
            defer { state.checks[name] = watch }
            return state.checks[name]
        }
        withExtendedLifetime(previous) {}
    }

    /// A target that stays is checked in another way.
    func changeChecks(of target: ServiceTarget) {
        setChecks(of: target)
        guard let manager = state.withLock({ $0.observers[target.name]?.manager }) else { return }
        let path = manager.path(waitingForName: .zero)
        let boot = clock.monitor.boot
        record { state in
            let now = state.line.instant(at: boot)
            state.checks[target.name]?.take(path, at: now)
            // Without checks it is as the kernel says from now on; with them, until one is made, as it was.
            if state.checks[target.name] != nil, path.mayBeChecked { return [] }
            return state.books.take(Observation(path: .init(path)), of: target.name, at: now, now: now)
        }
        explain(target.name)
    }

    /// What came of asking for a check.
    package enum Asked: Sendable {
        /// One is made now, or is under way.
        case accepted
        /// One was asked for a moment ago.
        case tooSoon
        /// The kernel has no path to the target, so nothing is sent.
        case noPath
        case notChecked
    }

    /// A target is not checked more often than that because somebody asks.
    package static let askingPause = Duration.seconds(1)

    /// Has a target checked now.
    package func askForCheck(of name: String) -> Asked {
        let boot = clock.monitor.boot
        let (asked, checker) = state.withLock { state -> (Asked, TargetChecker?) in
            guard let watch = state.checks[name] else { return (.notChecked, nil) }
            guard watch.path != nil else { return (.noPath, nil) }
            let now = state.line.instant(at: boot)
            if let last = watch.asked, now - last < Self.askingPause { return (.tooSoon, nil) }
            state.checks[name]?.asked = now
            return (.accepted, watch.checker)
        }
        checker?.ask()
        return asked
    }

    /// The targets of which a check is about to decide whether they are up, because their paths have returned a moment ago.
    package var undecided: Set<String> {
        let boot = clock.monitor.boot
        return state.withLock { state in
            let now = state.line.instant(at: boot)
            return Set(state.checks.filter { $0.value.isUndecided(at: now) }.keys)
        }
    }

    /// Makes no more checks.
    package func endChecks() {
        let watches = state.withLock { state in
            defer { state.checks = [:] }
            return state.checks
        }
        for watch in watches.values { watch.checker.end() }
    }

    /// Makes one check.
    ///
    /// - Returns: how long to wait until the next begins; nil where what it found is void.
    private func check(_ name: String) async -> Duration? {
        let known = state.withLock { state in
            state.checks[name].map { ($0.prober, $0.turn, state.books.accounts[name]?.ledger.outage != nil) }
        }
        guard let (prober, turn, isDown) = known else { return nil }
        let begun = clock.monitor.boot
        guard let finding = await prober.check(isDown: isDown) else { return nil }
        return take(finding, of: name, turn, from: begun, to: clock.monitor.boot)
    }

    /// The same of what a check found, which began and ended then, on CLOCK_BOOTTIME.
    func take(
        _ finding: CheckFinding,
        of name: String,
        _ turn: UInt64,
        from begun: Duration,
        to ended: Duration
    ) -> Duration? {
        var pause: Duration?
        var isNews = false
        record { state in
            // The path has changed meanwhile.
            guard var watch = state.checks[name], watch.turn == turn, let path = watch.path else { return [] }
            let (start, end) = (state.line.instant(at: begun), state.line.instant(at: ended))
            let isDown = state.books.accounts[name]?.ledger.outage != nil
            let change = watch.course.take(finding, from: start, to: end, isDown: isDown)
            pause = max(.zero, watch.course.next(after: start, now: end) - end)
            state.checks[name] = watch
            let status = CheckStatus(finding: finding.withoutSteps, begun: start, ended: end)
            checkLog.note(status, of: name)
            state.findings[name] = status
            state.findings[name]?.told = watch.course.told?.withoutSteps
            guard let change else { return [] }
            let observation = Observation(path: .init(path), check: change.finding.observation)
            let events = state.books.take(
                observation,
                of: name,
                at: change.instant,
                uncertainty: change.uncertainty,
                interface: path.interface?.name,
                now: end
            )
            isNews = !events.isEmpty
            return events
        }
        if isNews { explain(name) }
        return pause
    }
}
