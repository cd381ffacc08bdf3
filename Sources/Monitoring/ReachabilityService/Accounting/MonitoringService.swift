import Dispatch
package import LinuxSupport
package import NetworkDiagnostics
package import NetworkReachability
package import ReachabilityLedger

/// Accounts for every second of its targets: follows their paths, and keeps the books.
///
/// What happens from a change in the kernel to an event, step by step:
///
/// 1. ``PathObserver`` hears of a change of the path to one target, on the queue of its namespace's monitor.
/// 2. `observed(_:of:)` turns its time into an instant of the ledger, and gives both to ``ServiceBooks``.
/// 3. ``ServiceBooks`` attributes it, closes one interval and opens the next, and says which events that makes.
/// 4. The events go to everybody who listens, in their order.
///
/// One lock, held for moments: nobody is asked under it, and listeners run outside it, in the order of the events.
package final class MonitoringService: Sendable {
    struct State {
        var books = ServiceBooks()
        var line: TimeLine
        /// What is watched, as it was asked for.
        var targets: [String: ServiceTarget] = [:]
        var observers: [String: PathObserver] = [:]
        /// CLOCK_BOOTTIME less CLOCK_MONOTONIC when last read: how long the machine has slept since it started.
        var slept: Duration
        var listeners: [UInt64: @Sendable ([ServiceEvent]) -> Void] = [:]
        var lastListener: UInt64 = 0
        var sleepWatch: Cancellation?
        var maintenance: [MaintenanceWindow] = []
        /// What is announced beside these, by name.
        var planned: [String: PlannedMaintenance] = [:]
        /// Fires when one of them begins or ends.
        var maintenanceTimer: Cancellation?
        /// The targets that are checked.
        var checks: [String: CheckWatch] = [:]
        /// What the last check of each found.
        var findings: [String: CheckStatus] = [:]
        /// Targets whose evidence is about to be gathered.
        var unexplained: Set<String> = []
        /// The outages that lasted when the last run was killed, and continue unless their targets are up.
        var interrupted: [String: Outage] = [:]
        /// See ``CheckNotices``.
        var notices: [String] = []
    }

    package let clock: ServiceClock
    /// When it began.
    package let start: LedgerInstant
    /// Earlier boots, and since when this one is on the line.
    private let earlier: [Calendar.Era]
    private let eraStart: LedgerInstant
    let state: Locked<State>
    /// What the checks came to.
    package let checkLog = CheckLog()
    /// Who makes the checks of a target.
    let makeProber: @Sendable (ServiceTarget, CheckSettings) -> any TargetProbing
    /// Whether this process may send echoes.
    private let mayEcho: @Sendable () -> Bool
    /// Who began outages.
    let actorFinder: ActorFinder
    /// Events are handed over here, so that they are heard in order and nobody waits for whoever hears them.
    let eventQueue = DispatchQueue(label: "ReachabilityService.events")
    /// Evidence is gathered here: some questions to the kernel, which nobody waits for.
    private let evidenceQueue = DispatchQueue(label: "ReachabilityService.evidence")
    /// Actors are looked for here: in all of `/proc`, which evidence need not wait for.
    let actorQueue = DispatchQueue(label: "ReachabilityService.actors")

    /// - Parameters:
    ///   - resume: What a history knows of the time before.
    ///   - makeProber: Who makes the checks of a target; nil for those that send packets.
    ///   - findProcess: Who made a change; nil to look in `/proc`.
    ///   - mayEcho: Whether this process may send echoes.
    package init(
        clock: ServiceClock = .system,
        resume: HistoryStore.Resume = .init(),
        makeProber: (@Sendable (ServiceTarget, CheckSettings) -> any TargetProbing)? = nil,
        findProcess: (@Sendable (Removal) -> ActingProcess?)? = nil,
        mayEcho: @escaping @Sendable () -> Bool = { CheckNotices.mayEcho }
    ) {
        self.clock = clock
        self.mayEcho = mayEcho
        actorFinder = ActorFinder(findProcess ?? ProcessSearch(clock: clock.monitor).process)
        let benches = CheckBenches()
        self.makeProber = makeProber ?? { benches.prober(of: $0, $1) }
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
        earlier = resume.eras.filter { $0.line.bootIdentifier != clock.bootIdentifier }
        eraStart = resume.eras.first { $0.line.bootIdentifier == clock.bootIdentifier }?.start ?? start
        state = Locked(State(line: line, slept: boot - clock.monitor.monotonic))
        let planned = resume.maintenance.filter { $0.end > clock.real() }
        let lastSeen = resume.last
        state.withLock { state in
            state.planned = Dictionary(planned.map { ($0.id, $0) }) { first, _ in first }
            if let lastSeen, start - lastSeen <= Self.longestInterruption { state.interrupted = resume.outages }
        }
        let watch = clock.monitor.watchForSleep(on: eventQueue) { [weak self] in
            self?.checkClocks()
            self?.followMaintenance()
        }
        state.withLock { $0.sleepWatch = watch }
    }

    /// An outage that lasted when the service was killed continues if no more than this time was not observed.
    package static let longestInterruption: Duration = .seconds(60)

    // MARK: Targets

    /// Begins to account for a target by a manager that is there; what was watched under its name before is watched no more.
    package func insert(_ target: ServiceTarget, _ manager: NetworkReachabilityManager) {
        let name = target.name
        setChecks(of: target)
        let path = manager.path(waitingForName: .zero)
        let boot = clock.monitor.boot
        record { state in
            // What is checked is not up before a check says so.
            let isPending = state.checks[name] != nil && path.mayBeChecked
            let observation = Observation(path: isPending ? .unknown(reason: "undecided") : .init(path))
            let now = state.line.instant(at: boot)
            let interrupted = state.interrupted.removeValue(forKey: name)
            return state.books.open(
                name,
                observation,
                interface: path.interface?.name,
                resuming: now - start <= Self.longestInterruption ? interrupted : nil,
                at: now
            )
        }
        let observer = PathObserver(manager) { [weak self] change in self?.observed(change, of: target) }
        let previous = state.withLock { $0.observers.updateValue(observer, forKey: name) }
        withExtendedLifetime(previous) {}
        explain(name)
    }

    /// The same of one that is only known by its name.
    package func insert(_ name: String, _ manager: NetworkReachabilityManager) {
        insert(ServiceTarget(name: name, host: nil), manager)
    }

    /// Accounts for these targets and no others from now on. What stays as it is is left alone; what is watched in another way keeps
    /// its account.
    ///
    /// - Throws: What keeps one of them from being watched; nothing is changed then.
    package func apply(_ targets: [ServiceTarget]) throws(TargetError) {
        let known = state.withLock(\.targets)
        var managers: [(ServiceTarget, NetworkReachabilityManager)] = []
        for target in targets where known[target.name]?.path != target.path {
            do { managers.append((target, try target.makeManager())) } catch {
                throw TargetError(target: target.name, error: error)
            }
        }
        for name in known.keys where !targets.contains(where: { $0.name == name }) { remove(name) }
        for (target, manager) in managers { insert(target, manager) }
        for target in targets {
            guard let before = known[target.name], before.path == target.path, before.checks != target.checks else {
                continue
            }
            changeChecks(of: target)
        }
        let notices = CheckNotices.of(targets, mayEcho: mayEcho)
        state.withLock { state in
            state.notices = notices
            state.targets = Dictionary(targets.map { ($0.name, $0) }) { _, last in last }
        }
    }

    /// A target that cannot be watched.
    package struct TargetError: Error, Sendable {
        package let target: String
        package let error: NetworkReachabilityError
    }

    /// Accounts for a target no more.
    package func remove(_ name: String) {
        let (observer, watch) = state.withLock { state in
            state.targets[name] = nil
            state.findings[name] = nil
            return (state.observers.removeValue(forKey: name), state.checks.removeValue(forKey: name))
        }
        withExtendedLifetime((observer, watch)) {}
        let boot = clock.monitor.boot
        record { state in state.books.forget(name, now: state.line.instant(at: boot)) }
    }

    // MARK: What is so

    /// The books as they are, the moment they are read at, and how moments are written.
    package struct Snapshot: Sendable {
        package let books: ServiceBooks
        /// What the last check of each target found, where there was one.
        package let findings: [String: CheckStatus]
        package let calendar: Calendar
        package let now: LedgerInstant
        /// What a person should know of the checks: one sentence each.
        package let notices: [String]
    }

    package var snapshot: Snapshot {
        let boot = clock.monitor.boot
        return state.withLock { state in
            let calendar = Calendar(earlier: earlier, current: .init(start: eraStart, line: state.line))
            let now = state.line.instant(at: boot)
            return Snapshot(
                books: state.books,
                findings: state.findings,
                calendar: calendar,
                now: now,
                notices: state.notices
            )
        }
    }

    /// Adds a listener of all events, called in their order on a queue of the service's, until the result is cancelled or let go.
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

    /// What follows its targets, one for each network namespace.
    var monitors: [PathMonitor] {
        let all = state.withLock { $0.observers.values.map(\.manager.record.monitor) }
        return Array(Dictionary(all.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.values)
    }

    /// Waits until listeners have heard of all there is so far. Never call it on their queue.
    package func deliver() { eventQueue.sync {} }

    /// The same, and of what is being found out about it.
    package func flush() {
        evidenceQueue.sync {}
        actorQueue.sync {}
        deliver()
    }

    /// The number of the last event; listeners may not have heard of it yet.
    var lastNumber: UInt64 { state.withLock(\.books.lastNumber) }

    // MARK: Observing

    private func observed(_ change: PathObserver.Change, of watched: ServiceTarget) {
        let target = watched.name
        checkClocks()
        let (boot, monotonic) = (clock.monitor.boot, clock.monitor.monotonic)
        // The event may have been received before this machine slept last; the books take no moment before an interval began.
        let received = change.noticed.map { boot - (monotonic - $0) } ?? boot
        let observation = Observation(path: .init(change.path))
        // A way is lost with the first of the changes it needed, and there with the last.
        let isBack = observation.path == .reachable
        let span = isBack ? change.completed.map { $0 - (change.noticed ?? $0) } ?? .zero : .zero
        let uncertainty = isBack ? span : change.path.reason == .noCarrier ? Self.carrierDelay : .zero
        let events = record { state in
            let instant = state.line.instant(at: received + span)
            let now = state.line.instant(at: boot)
            let losses =
                change.missedLosses > 0
                ? state.books.takeMissedLoss(of: target, at: instant, uncertainty: Self.carrierDelay, now: now) : []
            state.checks[target]?.take(
                change.path,
                at: instant,
                uncertainty: isBack && change.noticed != nil ? uncertainty : nil
            )
            // Where there is a way, a check says what comes of it; until then it is as it was.
            if state.checks[target] != nil, change.path.mayBeChecked { return losses }
            // An outage of the last run lasts until its name has an answer.
            if observation.path == .resolving, state.books.accounts[target]?.isResumed ?? false { return losses }
            return losses
                + state.books.take(
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

    /// The kernel reports the loss of a carrier up to so much later (`linkwatch_event` of net/core/link_watch.c).
    private static let carrierDelay = Duration.seconds(1)

    /// Finds out why a target is as it is, soon.
    func explain(_ target: String) {
        guard state.withLock({ $0.unexplained.insert(target).inserted }) else { return }
        evidenceQueue.async { [weak self] in
            guard let self else { return }
            let manager = state.withLock { state in
                state.unexplained.remove(target)
                return state.observers[target]?.manager
            }
            guard let evidence = manager?.evidence() else { return }
            let boot = clock.monitor.boot
            record { state in
                let check = evidence.path.mayBeChecked ? state.checks[target]?.course.told : nil
                return state.books.explain(
                    target,
                    Observation(path: .init(evidence.path), check: check?.observation),
                    Self.steps(evidence, check),
                    now: state.line.instant(at: boot)
                )
            }
        }
    }

    /// Why a target is as it is at this moment: the kernel is asked on the calling thread, and where it has a path to the name servers but no
    /// name, they are, too. Nil for one that is not watched.
    package func evidence(of target: String) -> NetworkEvidence? {
        state.withLock { $0.observers[target]?.manager }?.evidence()
    }

    /// Where a target is watched.
    package func namespace(of target: String) -> NetworkNamespace {
        state.withLock { $0.targets[target]?.namespace } ?? .current
    }

    /// The kernel's own last word is of a path; where a check was made, the check has the last word.
    private static func steps(_ evidence: NetworkEvidence, _ check: CheckFinding?) -> [EvidenceRecord.Step] {
        let steps = check == nil ? evidence.steps : evidence.steps.dropLast()
        return steps.map(EvidenceRecord.Step.init) + (check?.steps ?? [])
    }

    /// Looks whether the machine slept or its wall clock was set. Before anything else is accounted for, so that nothing of what comes
    /// after a sleep is counted before it.
    private func checkClocks() {
        let (boot, monotonic, real) = (clock.monitor.boot, clock.monitor.monotonic, clock.real())
        record { state in
            let now = state.line.instant(at: boot)
            let sleep = boot - monotonic - state.slept
            state.slept = boot - monotonic
            var events: [ServiceEvent] = []
            if sleep > Self.shortestSleep {
                events += state.books.suspend(from: now - sleep, to: now)
                // What was found before holds no more.
                for name in state.checks.keys { state.checks[name]?.begin(at: now) }
            }
            if let step = state.line.adjust(boot: boot, real: real) {
                events.append(state.books.step(by: step, now: now))
            }
            return events
        }
    }

    /// The two clocks are read one after the other, so they differ a little without a sleep.
    private static let shortestSleep: Duration = .milliseconds(100)

    /// Changes the state, and hands over the events that makes. Under the lock they are put in line, so their order is theirs.
    @discardableResult
    func record(_ body: (inout State) -> [ServiceEvent]) -> [ServiceEvent] {
        state.withLock { state in
            let events = body(&state)
            if events.isEmpty { return [] }
            let listeners = Array(state.listeners.values)
            eventQueue.async { for listener in listeners { listener(events) } }
            return events
        }
    }
}
