import Dispatch
package import LinuxSupport
package import NetworkDiagnostics
package import NetworkReachability
import ReachabilityChecks
package import ReachabilityLedger

/// A service that monitors the paths to a set of targets and assigns each second to a state. Thread-safe.
///
/// A change in the kernel becomes an event in these steps:
///
/// 1. ``PathObserver`` receives a change of the path to one target, on the queue of the monitor of the target's network namespace.
/// 2. `observed(_:of:)` converts the time of the change to an instant of the ledger and passes both to ``Accounting``.
/// 3. ``Accounting`` attributes the change, closes one interval, opens the next, and returns the events.
/// 4. The listeners receive the events in the order of their numbers.
///
/// One lock protects all state. It is held only briefly: no kernel query and no listener runs while it is held.
package final class MonitoringService: Sendable {
    struct State {
        var accounting = Accounting()
        var line: TimeLine
        var targets: [String: ServiceTarget] = [:]
        /// The names of the targets in the order of the configuration.
        var order: [String] = []
        var observers: [String: PathObserver] = [:]
        /// The total time that the machine has slept: CLOCK_BOOTTIME minus CLOCK_MONOTONIC at the last reading.
        var slept: Duration
        var listeners: [UInt64: @Sendable ([ServiceEvent]) -> Void] = [:]
        var lastListener: UInt64 = 0
        var sleepWatch: Cancellation?
        var maintenance: [MaintenanceWindow] = []
        /// The announced maintenance, keyed by name.
        var planned: [String: PlannedMaintenance] = [:]
        /// The timer for the next start or end of maintenance.
        var maintenanceTimer: Cancellation?
        var checks: [String: CheckWatch] = [:]
        /// The result of the last check of each target.
        var findings: [String: CheckStatus] = [:]
        /// The targets for which a query of evidence is scheduled.
        var unexplained: Set<String> = []
        /// The outages that were open when the previous run was killed, keyed by target. They continue unless the target is up.
        var interrupted: [String: Outage] = [:]
        /// See ``CheckNotices``.
        var notices: [String] = []
        /// The pushes of the targets that send them.
        var pushes: [String: PushWatch] = [:]
        /// The names of the targets that clients have paused.
        var paused: Set<String> = []

        /// The reason why a target is not monitored: `paused` or `disabled`. Nil for a monitored target.
        func pause(of name: String) -> String? {
            targets[name]?.isEnabled == false ? "disabled" : paused.contains(name) ? "paused" : nil
        }
    }

    package let clock: ServiceClock
    /// The start of this run.
    package let start: LedgerInstant
    /// The earlier boots, oldest first.
    private let earlier: [Calendar.Boot]
    /// The first instant of this boot that a run recorded.
    private let bootStart: LedgerInstant
    /// The pushes that earlier runs received, keyed by target.
    let earlierPushes: [String: Push]
    /// The targets of which an earlier run has observed that a push is missing.
    let missedPushes: Set<String>
    let state: Locked<State>
    /// A lock that is held while targets are replaced, paused or continued, so that these changes do not overlap.
    let turn = Locked(())
    /// The results of checks of all targets.
    package let checkLog = CheckLog()
    /// Creates the object that sends the probes of a target.
    let makeProber: @Sendable (ServiceTarget, CheckSettings) -> any TargetProbing
    /// Creates the manager that monitors the path to a target.
    let makeManager: @Sendable (ServiceTarget) throws(NetworkReachabilityError) -> NetworkReachabilityManager
    /// Returns whether this process may send ICMP echo requests.
    let mayEcho: @Sendable () -> Bool
    let actorFinder: ActorFinder
    /// The queue of the listeners. It preserves the order of the events, and a slow listener delays nothing else.
    let eventQueue = DispatchQueue(label: "ReachabilityService.events")
    /// The queue of kernel queries for evidence.
    private let evidenceQueue = DispatchQueue(label: "ReachabilityService.evidence")
    /// The queue of searches for actors. It is separate because a search reads all of `/proc`.
    let actorQueue = DispatchQueue(label: "ReachabilityService.actors")

    /// - Parameters:
    ///   - resume: The state that earlier runs stored in the history.
    ///   - makeProber: Creates the object that sends the probes of a target. If nil, it sends real packets.
    ///   - makeManager: Creates the manager that monitors the path to a target.
    ///   - findProcess: Returns the process behind a change. If nil, `/proc` is searched.
    ///   - mayEcho: Returns whether this process may send ICMP echo requests.
    package init(
        clock: ServiceClock = .system,
        resume: HistoryStore.Resume = .init(),
        makeProber: (@Sendable (ServiceTarget, CheckSettings) -> any TargetProbing)? = nil,
        makeManager:
            @escaping @Sendable (ServiceTarget) throws(NetworkReachabilityError) -> NetworkReachabilityManager =
            MonitoringService.makeManager,
        findProcess: (@Sendable (Removal) -> ActingProcess?)? = nil,
        mayEcho: @escaping @Sendable () -> Bool = { CheckEngine.mayEcho }
    ) {
        self.clock = clock
        self.mayEcho = mayEcho
        actorFinder = ActorFinder(findProcess ?? ProcessSearch(clock: clock.monitor).process)
        let engines = CheckEngines()
        self.makeProber = makeProber ?? { engines.prober(of: $0, $1) }
        self.makeManager = makeManager
        let boot = clock.monitor.boot
        var line: TimeLine
        if let known = resume.line {
            line = known
            _ = line.adjust(boot: boot, real: clock.real())
        } else {
            line = TimeLine(
                bootIdentifier: clock.bootIdentifier,
                boot: boot,
                real: clock.real(),
                after: resume.last
            )
        }
        start = line.instant(at: boot)
        earlier = resume.boots.filter { $0.line.bootIdentifier != clock.bootIdentifier }
        bootStart = resume.boots.first { $0.line.bootIdentifier == clock.bootIdentifier }?.start ?? start
        state = Locked(State(line: line, slept: boot - clock.monitor.monotonic))
        let planned = resume.maintenance.filter { $0.end > clock.real() }
        (earlierPushes, missedPushes) = (resume.pushes, resume.missedPushes)
        let lastSeen = resume.last
        state.withLock { state in
            state.paused = resume.paused
            state.planned = Dictionary(planned.map { ($0.id, $0) }) { first, _ in first }
            if let lastSeen, start - lastSeen <= Self.longestInterruption { state.interrupted = resume.outages }
        }
        let watch = clock.monitor.watchForSleep(on: eventQueue) { [weak self] in
            self?.checkClocks()
            self?.followMaintenance()
            self?.followPushes()
        }
        state.withLock { $0.sleepWatch = watch }
    }

    /// Creates the manager that queries the kernel of this machine.
    package static let makeManager:
        @Sendable (ServiceTarget) throws(NetworkReachabilityError) -> NetworkReachabilityManager = {
            target throws(NetworkReachabilityError) in try target.makeManager()
        }

    /// The maximum time between the last record of a killed service and the next start for which an open outage continues.
    package static let longestInterruption: Duration = .seconds(60)

    // MARK: Reading

    /// The state of the service at one instant.
    package struct Snapshot: Sendable {
        package let accounting: Accounting
        /// The settings of the targets, keyed by name.
        package let targets: [String: ServiceTarget]
        /// The names of the targets in the order of the configuration.
        package let order: [String]
        /// The result of the last check of each target, keyed by target.
        package let findings: [String: CheckStatus]
        package let calendar: Calendar
        package let now: LedgerInstant
        /// Warnings about checks that do not work as configured, one sentence each.
        package let notices: [String]
        /// The pushes of the targets that send them, keyed by target.
        package let pushes: [String: PushWatch]
    }

    /// The current state. Thread-safe.
    package var snapshot: Snapshot {
        let boot = clock.monitor.boot
        return state.withLock { state in
            Snapshot(
                accounting: state.accounting,
                targets: state.targets,
                order: state.order,
                findings: state.findings,
                calendar: calendar(state),
                now: state.line.instant(at: boot),
                notices: state.notices,
                pushes: state.pushes
            )
        }
    }

    func calendar(_ state: State) -> Calendar {
        Calendar(earlier: earlier, current: .init(start: bootStart, line: state.line))
    }

    /// Adds a listener for all events.
    ///
    /// The listener is called on a private queue, in the order of the event numbers, until the returned value is cancelled or released.
    package func addListener(_ listener: @escaping @Sendable ([ServiceEvent]) -> Void) -> Cancellation {
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
        return Cancellation { [weak self] in
            let listener = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            withExtendedLifetime(listener) {}
        }
    }

    /// The monitors of the targets, one for each network namespace.
    var monitors: [PathMonitor] {
        let all = state.withLock { $0.observers.values.map(\.manager.record.monitor) }
        return Array(Dictionary(all.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.values)
    }

    /// Blocks until the listeners have received all events so far. It must not be called from a listener, because it would deadlock.
    package func deliver() { eventQueue.sync {} }

    /// Blocks until pending queries of evidence and searches for actors have ended and their events are delivered.
    package func flush() {
        evidenceQueue.sync {}
        actorQueue.sync {}
        deliver()
    }

    /// The number of the last event, which listeners may not have received yet.
    var lastNumber: UInt64 { state.withLock(\.accounting.lastNumber) }

    // MARK: Observing

    func observed(_ change: PathChange, of watched: ServiceTarget) {
        let target = watched.name
        checkClocks()
        let (boot, monotonic) = (clock.monitor.boot, clock.monitor.monotonic)
        // The event may have been received before the last sleep. Accounting moves an instant before the start of the current interval to
        // that start.
        let received = change.noticed.map { boot - (monotonic - $0) } ?? boot
        let observation = Observation(path: .init(change.path))
        // If several events lead to one change, the path is lost with the first of them and back with the last.
        let isBack = observation.path == .reachable
        let span = isBack ? change.completed.map { $0 - (change.noticed ?? $0) } ?? .zero : .zero
        let uncertainty = isBack ? span : change.path.reason == .noCarrier ? Self.carrierDelay : .zero
        let events = record { state, now in
            // The target was paused or replaced while its path changed.
            if state.pause(of: target) != nil || state.pushes[target] != nil { return [] }
            let instant = state.line.instant(at: received + span)
            // These carrier losses ended before the kernel reported them.
            let missed = change.previous.map { change.path.carrierLosses(since: $0) } ?? 0
            let losses =
                missed > 0
                ? state.accounting.takeMissedLoss(of: target, at: instant, uncertainty: Self.carrierDelay, now: now)
                : []
            state.checks[target]?.take(
                change.path,
                at: instant,
                uncertainty: isBack && change.noticed != nil ? uncertainty : nil
            )
            // If there is a path, a check decides whether the target is up. The state does not change before its result.
            if state.checks[target] != nil, change.path.mayBeChecked { return losses }
            // An outage of the previous run continues until the name service answers.
            if observation.path == .resolving, state.accounting.accounts[target]?.isResumed ?? false { return losses }
            return losses
                + state.accounting.take(
                    observation,
                    of: target,
                    at: instant,
                    uncertainty: uncertainty,
                    interface: change.path.interface?.name,
                    now: now
                )
        }
        if let port = change.remover, let noticed = change.noticed {
            findActor(of: Removal(port: port, namespace: watched.namespace, noticed: noticed), target, events)
        }
        explain(target)
    }

    /// The maximum delay with which the kernel reports a lost carrier.
    ///
    /// Source: `linkwatch_event` of the kernel's net/core/link_watch.c.
    private static let carrierDelay = Duration.seconds(1)

    /// Schedules a kernel query for the evidence of a target on a background queue. Repeated calls are merged.
    func explain(_ target: String) {
        guard state.withLock({ $0.unexplained.insert(target).inserted }) else { return }
        evidenceQueue.async { [weak self] in
            guard let self else { return }
            let manager = state.withLock { state in
                state.unexplained.remove(target)
                return state.observers[target]?.manager
            }
            guard let evidence = manager?.evidence() else { return }
            record { state, now in
                let check = evidence.path.mayBeChecked ? state.checks[target]?.schedule.current : nil
                return state.accounting.explain(
                    target,
                    Observation(path: .init(evidence.path), check: check?.observation),
                    Self.steps(evidence, check),
                    now: now
                )
            }
        }
    }

    /// Returns the manager of the path to a target; nil for an unknown target.
    package func manager(of target: String) -> NetworkReachabilityManager? {
        state.withLock { $0.observers[target]?.manager }
    }

    /// Returns the current evidence of a target; nil for an unknown target.
    ///
    /// Blocks: the calling thread queries the kernel and, if the name is not resolved, the name servers.
    package func evidence(of target: String) -> NetworkEvidence? {
        manager(of: target)?.evidence()
    }

    /// Returns the network namespace of a target; the current namespace for an unknown target.
    package func namespace(of target: String) -> NetworkNamespace {
        state.withLock { $0.targets[target]?.namespace } ?? .current
    }

    /// Returns the steps of the evidence.
    ///
    /// If there was a check, its steps replace the last step, because the kernel's answer covers only the path.
    private static func steps(_ evidence: NetworkEvidence, _ check: CheckFinding?) -> [EvidenceRecord.Step] {
        let steps = check == nil ? evidence.steps : evidence.steps.dropLast()
        return steps.map(EvidenceRecord.Step.init) + (check?.steps ?? [])
    }

    /// Detects sleep and steps of the wall clock.
    ///
    /// Called before any other change, so that a change after a sleep is not recorded before the sleep.
    private func checkClocks() {
        let (boot, monotonic, real) = (clock.monitor.boot, clock.monitor.monotonic, clock.real())
        record { state, now in
            let sleep = boot - monotonic - state.slept
            state.slept = boot - monotonic
            var events: [ServiceEvent] = []
            if sleep > Self.shortestSleep {
                events += state.accounting.suspend(from: now - sleep, to: now)
                // Results of checks before the sleep are obsolete.
                for name in state.checks.keys { state.checks[name]?.begin(at: now) }
                for name in state.pushes.keys { state.pushes[name]?.interrupt(from: now - sleep, to: now) }
            }
            if let step = state.line.adjust(boot: boot, real: real) {
                events.append(state.accounting.step(by: step, now: now))
            }
            return events
        }
    }

    /// The minimum difference between the clocks that counts as sleep. Smaller ones occur because the clocks are read one after the other.
    private static let shortestSleep: Duration = .milliseconds(100)

    /// Changes the state under the lock and sends the resulting events to the listeners.
    ///
    /// The events are enqueued while the lock is held, so that they stay in the order of their numbers.
    ///
    /// - Parameter body: Receives the state and the current instant.
    @discardableResult
    func record(_ body: (inout State, LedgerInstant) -> [ServiceEvent]) -> [ServiceEvent] {
        let boot = clock.monitor.boot
        return state.withLock { state in
            let events = body(&state, state.line.instant(at: boot))
            if events.isEmpty { return [] }
            let listeners = Array(state.listeners.values)
            eventQueue.async { for listener in listeners { listener(events) } }
            return events
        }
    }
}
