package import Dispatch
package import LinuxSupport
package import Logging
package import Netlink

/// One network namespace, watched for every manager in the process: it performs what the state machine decides.
///
/// What happens from a change in the kernel to a listener, step by step:
///
/// 1. `EventThread` wakes, and `EventSocket` reads all messages: an `EventBurst`.
/// 2. ``heard(_:)`` gives it to ``Monitor``, which puts the concerned targets in line.
/// 3. `evaluateNext()` takes them out of the line; ``KernelSession`` asks the kernel, in one or two rounds.
/// 4. ``Judge`` makes verdicts of the answers, a quorum of the verdicts, a path of the quorum.
/// 5. ``Monitor`` says who is to be notified of which path; ``Subscription`` delivers it.
///
/// The kernel is the state. An event is never the answer: whatever happens, the answer comes from a fresh route lookup and
/// link query. So a lost event is one more evaluation, and no storm can leave a wrong answer. Please keep it so.
///
/// Locks, in the order in which they are taken: `session`, held during an evaluation, so that evaluations have an order; under
/// it those of the connection: its thread, the question socket (`RouteSockets`), the filter (`EventSocket`). Then `state`, held
/// for moments, and never while anybody is asked or notified. Then, under either, that of a `NameRecord`. `timers`, `watches`,
/// `observers` and `calls` are held alone.
package final class PathMonitor: Sendable {
    /// Produces everything in order. One queue for each namespace, so an overcommit one is no danger; the threads of the global
    /// queues wake every second to see whether there are enough of them.
    package let queue = DispatchQueue(label: "NetworkReachability.monitor")
    package let environment: MonitorEnvironment
    private let logger: Logger?
    private let session: Locked<KernelSession>
    private let state = Locked(Monitor())
    /// The running timers. Releasing a timer cancels it.
    private let timers = Locked<[MonitorTimer: Cancellation]>([:])
    private let watches = Locked(Watches())
    /// The observers of evaluations, by number.
    private let observers = Locked<(last: UInt64, all: [UInt64: @Sendable () -> Void])>((0, [:]))
    /// Listeners are called on many threads, and none of them may hold the monitor up.
    private let calls = Locked<(count: UInt64, lag: LatencyHistogram)>((0, LatencyHistogram()))

    private struct Watches {
        /// Always, not only while anybody watches: sockets for the next question must not keep a namespace alive.
        var namespace: Cancellation?
        var sleep: Cancellation?
        var nameConfiguration: Cancellation?
        /// How long the machine has slept since it started, when last seen.
        var slept = Duration.zero
        var isFilterRefused = false
    }

    /// Connects at once, in the process's network namespace where the kernel's is not named; what cannot be opened is tried again later.
    package init(environment: MonitorEnvironment, logger: Logger? = nil) {
        self.environment = environment
        self.logger = logger
        session = Locked(KernelSession(kernel: environment.kernel))
        watchNamespace()
        session.withLock { _ = try? $0.connect() }
    }

    /// Why the kernel cannot be asked, if it cannot.
    package var failure: NetlinkError? { session.withLock { $0.failure } }

    private var now: Duration { environment.clock.monotonic }

    /// Runs `action` on the queue, after whatever is there already.
    func soon(_ action: @escaping @Sendable () -> Void) {
        environment.clock.soon(on: queue, action)
    }
}

// MARK: - From an event to a notification. All of it runs on the queue.

extension PathMonitor {
    private func heard(_ burst: EventBurst) {
        if let failure = burst.failure { return cannotRead(failure) }
        let now = now
        perform(state.withLock { $0.heard(burst, at: now) })
    }

    private func perform(_ actions: [Monitor.Action]) {
        for action in actions {
            switch action {
            case .evaluate: evaluateNext()
            case .evaluateSoon: soon { [weak self] in self?.evaluateNext() }
            case .notify(let subscription, let change): subscription.deliver(change)
            case .schedule(let timer, let delay): schedule(timer, after: delay)
            case .cancel(let timer): wait(for: timer, nil)
            case .updateFilter: updateFilter()
            case .updateFilterSoon: soon { [weak self] in self?.updateFilter() }
            case .forgetInterfaces: session.withLock { $0.forgetInterfaces() }
            case .resolveNames: resolveNames()
            case .reportFlapping(let target, let isFlapping, let changes):
                logger?.debug(
                    "flapping",
                    metadata: ["target": "\(target)", "flapping": "\(isFlapping)", "changes": "\(changes)"]
                )
            }
        }
    }

    /// Evaluates the next targets in line, and notifies of what has changed. The rest waits for everybody else who waits for the
    /// queue: those who begin or end to listen, and other events.
    private func evaluateNext(isContinuing: Bool = false) {
        var (records, origin, continues) = state.withLock {
            $0.next(MonitorTiming.evaluationLimit, isContinuing: isContinuing)
        }
        if continues { soon { [weak self] in self?.evaluateNext(isContinuing: true) } }
        if records.isEmpty { return }
        let evaluations = evaluate(records)
        let now = now
        if evaluations.hasEvents { origin.completed = now }
        perform(state.withLock { $0.evaluated(evaluations.results, origin, at: now) })
        if !evaluations.isListening { perform(state.withLock { $0.cannotListen() }) }
        if !evaluations.tunnelEnds.isEmpty {
            perform(state.withLock { $0.foundTunnels(to: evaluations.tunnelEnds) })
        }
        for observer in observers.withLock({ Array($0.all.values) }) { observer() }
    }

    private func log(_ path: NetworkPath, of target: Target) {
        logger?.debug(
            "path changed",
            metadata: [
                "target": "\(target)", "status": "\(path.status)", "reason": "\(path.reason?.description ?? "-")",
                "interface": "\(path.interface?.description ?? "-")", "generation": "\(path.generation)",
            ]
        )
    }

    private typealias Evaluations = (
        results: [(record: TargetRecord, path: NetworkPath, lifetime: Duration?)],
        isListening: Bool, wasListening: Bool, hasEvents: Bool, tunnelEnds: Set<WireAddress>
    )

    /// The paths of `records`, counted as changes where they are.
    private func evaluate(_ records: [TargetRecord]) -> Evaluations {
        var changes: [(path: NetworkPath, target: Target)] = []
        let evaluations: Evaluations = session.withLock { session in
            let wasListening = session.isListening
            let evaluations = session.evaluate(records.map(\.subject))
            let (now, lookups) = (now, session.takeLookups())
            let results = state.withLock { state in
                state.countLookups(lookups)
                return zip(records, evaluations).map { record, evaluation in
                    let (path, isNew) = state.take(evaluation.path, of: record.id, at: now)
                    if isNew, logger != nil { changes.append((path, record.target)) }
                    return (record, path, evaluation.lifetime)
                }
            }
            return (results, session.isListening, wasListening, session.hasEvents, session.tunnelEnds)
        }
        for (path, target) in changes { log(path, of: target) }
        return evaluations
    }

    private func schedule(_ timer: MonitorTimer, after delay: Duration) {
        let timer = (timer, environment.clock.schedule(after: delay, on: queue) { [weak self] in self?.fired(timer) })
        wait(for: timer.0, timer.1)
    }

    /// Waits for a timer in place of the one there was.
    private func wait(for timer: MonitorTimer, _ cancellation: Cancellation?) {
        let previous = timers.withLock { timers in
            defer { timers[timer] = cancellation }
            return timers[timer]
        }
        previous?.cancel()
    }

    private func fired(_ timer: MonitorTimer) {
        wait(for: timer, nil)
        let now = now
        let (listens, actions) = state.withLock { $0.fired(timer, at: now) }
        if listens, !actions.isEmpty { listen() }
        perform(actions)
    }
}

// MARK: - Questions, from any thread

extension PathMonitor {
    /// The path to a target now, asked of the kernel on the calling thread.
    package func path(to record: TargetRecord, waitingForName limit: Duration) -> NetworkPath {
        record.name?.prepare(waitingAtMost: limit)
        let evaluations = evaluate([record])
        // This question found the connection broken and let go of it; those who listen would hear nothing any more.
        if evaluations.wasListening, !evaluations.isListening { soon { [weak self] in self?.evaluateAll() } }
        return evaluations.results.first?.path ?? NetworkPath()
    }

    /// The path to a watched target as it was evaluated last, if the kernel has announced nothing since that may change it. Nil if that is not
    /// certain. Asks the kernel nothing.
    package func knownPath(to record: TargetRecord) -> NetworkPath? {
        session.withLock { session in
            session.isQuiet ? state.withLock { $0.settledPath(of: record.id) } : nil
        }
    }

    /// Runs a pure function of answers, for those who ask about more than the path to a target.
    package func answering<Value: Sendable>(
        _ body: (inout Judge) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> Value {
        try session.withLock { session throws(NetlinkError) in
            defer { countLookups(&session) }
            return try session.answering(body)
        }
    }

    private func countLookups(_ session: inout KernelSession) {
        let lookups = session.takeLookups()
        state.withLock { $0.countLookups(lookups) }
    }

    /// The same for a path to a target, which is counted as a change where it is one.
    ///
    /// - Parameter record: The target; nil for a path that counts for none.
    package func answering<Value: Sendable>(
        of record: TargetRecord?,
        _ body: (inout Judge) throws(MissingAnswers) -> (path: NetworkPath, value: Value)
    ) throws(NetlinkError) -> (path: NetworkPath, value: Value) {
        try session.withLock { session throws(NetlinkError) in
            defer { countLookups(&session) }
            let (path, value) = try session.answering(body)
            return (record.map { note(path, of: $0) } ?? path, value)
        }
    }

    /// Counts a path as a change where it is one.
    package func note(_ path: NetworkPath, of record: TargetRecord) -> NetworkPath {
        let now = now
        let (path, isNew) = state.withLock { $0.take(path, of: record.id, at: now) }
        if isNew { log(path, of: record.target) }
        return path
    }

    /// Lets go of a connection that cannot be used, and says what that means for every target.
    package func giveUp(_ error: NetlinkError) -> NetworkPath.UnsatisfiedReason {
        let (reason, wasListening) = session.withLock { session in
            let wasListening = session.isListening
            return (session.giveUp(error), wasListening)
        }
        if wasListening { soon { [weak self] in self?.evaluateAll() } }
        return reason
    }

    /// Whether there is a path to one of the configured name servers.
    func reachesNameServer() -> Bool {
        guard let configuration = environment.resolver.configuration, configuration.asksServers else { return false }
        let servers = EvaluationSubject(.any(configuration.servers))
        let path = try? answering { judge throws(MissingAnswers) in try judge.evaluate(servers).path }
        return path?.status.isReachable ?? false
    }

    package var statistics: MonitorStatistics {
        var statistics = state.withLock { $0.statistics }
        calls.withLock { calls in
            statistics.listenerCalls = calls.count
            statistics.lag = calls.lag.separateCopy()
        }
        return statistics
    }

    func flapCount(of record: TargetRecord) -> Int {
        let now = now
        return state.withLock { $0.flapCount(of: record.id, at: now) }
    }

    /// - Parameter lag: nil for a call that no notification led to.
    func countCall(lag: Duration?) {
        calls.withLock { calls in
            calls.count += 1
            if let lag { calls.lag.record(lag) }
        }
    }

    /// Runs `action` on the queue after each evaluation of targets, until the result is cancelled or let go; it may still run
    /// once then. There are evaluations only while there are targets that somebody listens to: after each change of links,
    /// addresses, rules, next hops and default routes, and after those of routes that lead to one of the targets.
    package func addObserver(_ action: @escaping @Sendable () -> Void) -> Cancellation {
        let number = observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = action
            return observers.last
        }
        return Cancellation { [weak self] in
            // Let go of outside the lock.
            let action = self?.observers.withLock { $0.all.removeValue(forKey: number) }
            withExtendedLifetime(action) {}
        }
    }
}

// MARK: - Targets and subscriptions, from any thread

extension PathMonitor {
    /// The record of a target, shared with everybody who means the same.
    package func record(of target: Target) -> TargetRecord {
        if let known = state.withLock({ $0.record(of: target) }) { return known }
        let candidate = makeRecord(target)
        // Another thread may have been faster. An unused candidate is released outside the lock.
        return state.withLock { state in
            if let known = state.record(of: target) { return known }
            state.insert(candidate)
            return candidate
        }
    }

    private func makeRecord(_ target: Target) -> TargetRecord {
        let id = state.withLock { $0.makeID() }
        guard case .name(let name, let interval) = target.destination else {
            return TargetRecord(id, target, of: self, name: nil)
        }
        let changed: @Sendable () -> Void = { [weak self] in self?.addressesChanged(of: target) }
        let record = NameRecord(
            name: name,
            interval: interval,
            environment: environment,
            queue: queue,
            changed: changed
        )
        return TargetRecord(id, target, of: self, name: record)
    }

    /// The last who held a record has let go of it: perhaps under a lock, so it is forgotten later.
    func forget(_ id: TargetRecord.ID, _ target: Target) {
        soon { [state] in state.withLock { $0.forget(id, target) } }
    }

    func add(_ subscription: Subscription) {
        subscription.record.name?.prepare(waitingAtMost: .zero)
        let isFirst = state.withLock { $0.add(subscription) }
        if isFirst { soon { [self] in begin() } }
        // Another thread has ended the subscription before it was added, so it is removed here.
        if subscription.hasEnded { remove(subscription) }
    }

    func remove(_ subscription: Subscription) {
        state.withLock { $0.remove(subscription) }
        soon { [self] in end(subscription) }
    }
}

// MARK: - Beginning and ending to listen, on the queue

extension PathMonitor {
    private func begin() {
        let (arrived, actions) = state.withLock { $0.begin() }
        if arrived.isEmpty { return }
        for record in arrived { record.name?.watch() }
        listen()
        perform(actions)
    }

    private func end(_ subscription: Subscription) {
        let (isUnwatched, isLast, actions) = state.withLock { $0.end(subscription) }
        if isUnwatched { subscription.record.name?.unwatch() }
        perform(actions)
        // The sockets stay for the next question.
        if isLast { stopListening() }
    }

    private func stopListening() {
        session.withLock { $0.stopListening() }
        let over = watches.withLock { watches in
            defer { (watches.sleep, watches.nameConfiguration) = (nil, nil) }
            return [watches.sleep, watches.nameConfiguration]
        }
        withExtendedLifetime(over) {}
    }

    private func evaluateAll() {
        let actions = state.withLock { $0.evaluateAll() }
        if actions.isEmpty { return }
        listen()
        perform(actions)
    }

    private func addressesChanged(of target: Target) {
        guard let record = state.withLock({ $0.record(of: target) }) else { return }
        let actions = state.withLock { $0.addressesChanged(of: record) }
        if actions.isEmpty { return }
        listen()
        perform(actions)
    }

    /// Listens to the kernel and to whatever else changes answers, where it does not yet.
    private func listen() {
        do {
            let missing = try session.withLock { session throws(NetlinkError) in
                try session.listen(on: queue) { [weak self] burst in self?.heard(burst) }
            }
            state.withLock { $0.isListening() }
            if let missing {
                if !missing.isEmpty {
                    logger?.warning(
                        "the kernel lacks groups",
                        metadata: ["groups": "\(missing.joined(separator: " "))"]
                    )
                }
                updateFilter()
            }
        } catch {
            logger?.warning("cannot listen to the kernel, trying again", metadata: ["error": "\(error)"])
            perform(state.withLock { $0.cannotListen() })
        }
        let (namespace, sleep, configuration) = watches.withLock { ($0.namespace, $0.sleep, $0.nameConfiguration) }
        if namespace == nil { watchNamespace() }
        if sleep == nil { watchSleep() }
        if configuration == nil, state.withLock({ !$0.watchedNames.isEmpty }) { watchNameConfiguration() }
    }

    /// The events of the listening socket are lost. Another socket replaces it after a delay.
    private func cannotRead(_ cause: SystemError) {
        let error = NetlinkError("read what the kernel tells", cause)
        logger?.warning("cannot listen to the kernel, trying again", metadata: ["error": "\(error)"])
        _ = session.withLock { $0.giveUp(error) }
        let now = now
        perform(state.withLock { $0.cannotRead(at: now) })
    }

    /// Lets the kernel leave out what does not matter. A filter that is too wide does no harm; one that is too narrow would.
    private func updateFilter() {
        guard environment.filtersRoutes, !watches.withLock({ $0.isFilterRefused }) else { return }
        let filter = state.withLock { $0.takeFilter() }
        do throws(NetlinkError) {
            try session.withLock { session throws(NetlinkError) in try session.setFilter(filter) }
        } catch  where error.stage != .filter {
            // Deaf to what the new filter lets through: another socket hears everything until it has one.
            logger?.warning("listening anew", metadata: ["error": "\(error)"])
            session.withLock { $0.disconnect() }
            soon { [weak self] in self?.evaluateAll() }
        } catch {
            watches.withLock { $0.isFilterRefused = true }
            logger?.warning("every route change is heard of", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: - What else changes answers

extension PathMonitor {
    /// Lets go of the namespace when it is deleted or replaced, and evaluates what there is instead.
    private func watchNamespace() {
        let watch = environment.kernel.watchNamespace(on: queue) { [weak self] in
            self?.session.withLock { $0.letGoOfOtherNamespace() }
            self?.evaluateAll()
        }
        watches.withLock { $0.namespace = watch }
    }

    private func watchSleep() {
        let clock = environment.clock
        let watch = clock.watchForSleep(on: queue) { [weak self] in self?.mayHaveSlept() }
        let slept = clock.boot - clock.monotonic
        watches.withLock { ($0.sleep, $0.slept) = (watch, slept) }
    }

    private func mayHaveSlept() {
        let slept = environment.clock.boot - environment.clock.monotonic
        let before = watches.withLock { watches in
            defer { watches.slept = slept }
            return watches.slept
        }
        guard slept - before > MonitorTiming.shortestSleep else { return }
        logger?.debug("the machine slept", metadata: ["duration": "\(slept - before)"])
        evaluateAll()
        resolveNames()
    }

    private func watchNameConfiguration() {
        let watch = environment.resolver.watchConfiguration(on: queue) { [weak self] in
            self?.logger?.debug("the name service's configuration changed")
            self?.resolveNames()
        }
        watches.withLock { $0.nameConfiguration = watch }
    }

    /// Every watched name is asked about again, soon.
    private func resolveNames() {
        for name in watchedNames { name.networkChanged() }
    }

    private var watchedNames: [NameRecord] {
        state.withLock { state in state.watchedNames.sorted().compactMap { state.states[$0]?.record?.name } }
    }
}
