import LinuxSupport
import NetworkReachability
import ReachabilityChecks
package import ReachabilityLedger

/// The result of a check, with its time and the state at that time.
package struct CheckStatus: Sendable {
    package let finding: CheckFinding
    /// The result that determines the state of the target. It may be older than `finding`, which may need confirmation. Nil before the
    /// first decisive check along this path.
    package var current: CheckFinding?
    /// The start of the check.
    package let begun: LedgerInstant
    /// The end of the check.
    package let ended: LedgerInstant
}

/// The state of the checks of one target.
struct CheckWatch: Sendable {
    let prober: any TargetProbing
    let checker: TargetChecker
    /// The task that sends bursts; nil for none.
    let burster: TargetChecker?
    let burst: BurstSettings?
    var schedule: TargetSchedule
    /// The measurements of the target; nil without thresholds and bursts.
    var measurements: MeasurementWindow?
    /// The delay before the first check. It differs between targets, to spread the checks.
    var delay: Duration
    /// The number of the path, which increases with each change. Results of checks along an older path are discarded.
    private(set) var turn: UInt64 = 0
    /// The last path that the kernel reported; nil without a path that can be checked.
    private(set) var path: NetworkPath?
    /// The time of the last check that a client requested.
    var lastRequest: LedgerInstant?

    /// Applies a path that the kernel reported. If the path is new and can be checked, a check is scheduled.
    ///
    /// - Parameter uncertainty: The maximum time by which the path may have returned earlier. Nil if the kernel did not report a time.
    mutating func take(_ path: NetworkPath, at now: LedgerInstant, uncertainty: Duration? = nil) {
        guard path.mayBeChecked else {
            self.path = nil
            turn += 1
            schedule.end(at: now)
            prober.discardCache()
            measurements?.reset()
            burster?.halt()
            return checker.halt()
        }
        if let before = self.path, before.leads(as: path) { return }
        let isBack = self.path?.status.isReachable != true && path.status.isReachable
        self.path = path
        // The name service usually answers within this time, which makes the check unnecessary.
        if path.isAboutName { delay = max(delay, Self.resolutionTime) }
        begin(at: now, returned: isBack ? uncertainty : nil)
    }

    /// The time that a name may take to resolve before a check looks for the reason.
    private static let resolutionTime = Duration.seconds(2)

    /// Returns a Boolean value that indicates whether the path is new and its first check has not yet decided the state.
    func isUndecided(at now: LedgerInstant) -> Bool {
        path != nil && schedule.current == nil && now - schedule.since <= Self.longestCheck
    }

    /// The maximum time after a change of the path for which the state counts as undecided.
    private static let longestCheck = Duration.seconds(30)

    /// Adds a result to the measurements, and returns it, or a degraded one if a threshold is exceeded.
    ///
    /// - Parameter isDown: True during an outage, whose failed checks would degrade the target after its return.
    mutating func measured(_ finding: CheckFinding, isDown: Bool, at now: LedgerInstant) -> CheckFinding {
        // A fault of this machine or its provider is no loss of the target.
        if burst == nil, finding.isGood || finding.attribution == .them && !isDown {
            let count = finding.isGood ? 1 : 0
            measurements?.add(finding.latency.map { [$0] } ?? [], answered: count, lost: 1 - count, at: now)
        }
        return measurements?.judged(finding, at: now) ?? finding
    }

    /// Discards all results and, if there is a path, schedules a check.
    mutating func begin(at now: LedgerInstant, returned uncertainty: Duration? = nil) {
        guard path != nil else { return }
        turn += 1
        schedule.begin(at: now, returned: uncertainty)
        prober.discardCache()
        measurements?.reset()
        burster?.go(after: delay)
        checker.go(after: delay)
        delay = .zero
    }
}

extension NetworkPath {
    /// A Boolean value that indicates whether a check can add information: there is a route, or only the name has no address.
    var mayBeChecked: Bool { status.isReachable || isAboutName }

    /// A Boolean value that indicates whether the only problem is that the name has no address, or none yet.
    fileprivate var isAboutName: Bool {
        !status.isReachable && reason.map { Attributor.nameReasons.contains($0.rawValue) } == true
    }

    /// Returns a Boolean value that indicates whether packets use the same interface, gateway and source address on both paths.
    fileprivate func leads(as other: NetworkPath) -> Bool {
        status == other.status && interface == other.interface && gateway == other.gateway && source == other.source
    }
}

extension MonitoringService {
    /// The delay between the first checks of two targets.
    private static let spread = Duration.milliseconds(5)

    /// Replaces the checks of a target according to its settings. Earlier results are discarded.
    func setChecks(of target: ServiceTarget) {
        let name = target.name
        let watch = target.checks.map { settings in
            let prober = makeProber(target, settings)
            let checker = TargetChecker { [weak self] in await self?.check(name) }
            let burster = settings.burst.map { _ in TargetChecker { [weak self] in await self?.measure(name) } }
            let boot = clock.monitor.boot
            return state.withLock { state in
                let schedule = TargetSchedule(settings, of: name, at: state.line.instant(at: boot))
                let delay = min(Self.spread * state.checks.count, settings.interval)
                return CheckWatch(
                    prober: prober,
                    checker: checker,
                    burster: burster,
                    burst: settings.burst,
                    schedule: schedule,
                    measurements: MeasurementWindow(settings),
                    delay: delay
                )
            }
        }
        let previous = state.withLock { state in
            state.findings[name] = nil
            defer { state.checks[name] = watch }
            return state.checks[name]
        }
        withExtendedLifetime(previous) {}
    }

    /// Applies changed check settings of a target whose path settings are unchanged.
    func changeChecks(of target: ServiceTarget) {
        guard let manager = state.withLock({ $0.observers[target.name]?.manager }) else { return }
        setChecks(of: target)
        let path = manager.path(waitingForName: .zero)
        record { state, now in
            state.checks[target.name]?.take(path, at: now)
            // Without checks, the state follows the kernel's path from now on. With checks, the state does not change before the first
            // result.
            if state.checks[target.name] != nil, path.mayBeChecked { return [] }
            return state.accounting.take(Observation(path: .init(path)), of: target.name, at: now, now: now)
        }
        explain(target.name)
    }

    /// The result of a request for a check.
    package enum CheckRequestResult: Sendable {
        /// A check starts now or is running.
        case accepted
        /// The last request was less than ``MonitoringService/checkRequestPause`` ago.
        case tooSoon
        /// The kernel has no path to the target, so no packet can be sent.
        case noPath
        /// The target has no checks, or is unknown.
        case notChecked
    }

    /// The minimum time between two requested checks of a target.
    package static let checkRequestPause = Duration.seconds(1)

    /// Requests an immediate check of a target.
    package func requestCheck(of name: String) -> CheckRequestResult {
        let boot = clock.monitor.boot
        let (result, checker) = state.withLock { state -> (CheckRequestResult, TargetChecker?) in
            guard let watch = state.checks[name] else { return (.notChecked, nil) }
            guard watch.path != nil else { return (.noPath, nil) }
            let now = state.line.instant(at: boot)
            if let last = watch.lastRequest, now - last < Self.checkRequestPause { return (.tooSoon, nil) }
            state.checks[name]?.lastRequest = now
            return (.accepted, watch.checker)
        }
        checker?.checkNow()
        return result
    }

    /// The names of targets whose path has changed and whose first check has not yet decided whether they are up.
    package var undecided: Set<String> {
        let boot = clock.monitor.boot
        return state.withLock { state in
            let now = state.line.instant(at: boot)
            return Set(state.checks.filter { $0.value.isUndecided(at: now) }.keys)
        }
    }

    /// Cancels all checks and makes no more.
    package func endChecks() {
        let watches = state.withLock { state in
            defer { state.checks = [:] }
            return state.checks
        }
        for watch in watches.values {
            watch.checker.end()
            watch.burster?.end()
        }
    }

    /// Makes one check of a target and applies its result.
    ///
    /// - Returns: The time until the next check; nil if the result was discarded.
    private func check(_ name: String) async -> Duration? {
        let known = state.withLock { state in
            state.checks[name].map { ($0.prober, $0.turn, state.accounting.accounts[name]?.ledger.outage != nil) }
        }
        guard let (prober, turn, isDown) = known else { return nil }
        let begun = clock.monitor.boot
        guard let finding = await prober.check(isDown: isDown) else { return nil }
        return take(finding, of: name, turn, from: begun, to: clock.monitor.boot)
    }

    /// Applies the result of a check.
    ///
    /// - Parameters:
    ///   - turn: The number of the path at the start of the check. If the path has a new number, the result is discarded.
    ///   - begun: The start of the check, on CLOCK_BOOTTIME.
    ///   - ended: The end of the check, on CLOCK_BOOTTIME.
    /// - Returns: The time until the next check; nil if the path has changed and the result was discarded.
    func take(
        _ finding: CheckFinding,
        of name: String,
        _ turn: UInt64,
        from begun: Duration,
        to ended: Duration
    ) -> Duration? {
        var pause: Duration?
        var hasChanged = false
        record { state, _ in
            // A result of an older path is discarded.
            guard var watch = state.checks[name], watch.turn == turn, let path = watch.path else { return [] }
            let (start, end) = (state.line.instant(at: begun), state.line.instant(at: ended))
            let isDown = state.accounting.accounts[name]?.ledger.outage != nil
            let finding = watch.measured(finding, isDown: isDown, at: end)
            let change = watch.schedule.take(finding, from: start, to: end, isDown: isDown)
            pause = max(.zero, watch.schedule.next(after: start, now: end) - end)
            // The failed checks that confirmed an outage are part of it.
            if let change, !change.finding.isGood { watch.measurements?.discard(from: change.instant) }
            state.checks[name] = watch
            let status = CheckStatus(finding: finding.withoutSteps, begun: start, ended: end)
            checkLog.note(status, of: name, isMeasured: watch.burst == nil)
            state.findings[name] = status
            state.findings[name]?.current = watch.schedule.current?.withoutSteps
            guard let change else { return [] }
            let observation = Observation(path: .init(path), check: change.finding.observation)
            let events = state.accounting.take(
                observation,
                of: name,
                at: change.instant,
                uncertainty: change.uncertainty,
                interface: path.interface?.name,
                now: end
            )
            hasChanged = !events.isEmpty
            return events
        }
        if hasChanged { explain(name) }
        return pause
    }
}
