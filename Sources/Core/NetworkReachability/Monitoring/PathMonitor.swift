package import Dispatch
package import LinuxSupport
package import Logging
package import Netlink

/// The monitor of one network namespace, shared by all managers of the process. It performs the actions of the state
/// machine ``Monitor``.
///
/// The steps from a change in the kernel to the call of a listener:
///
/// 1. `EventThread` wakes up, and `EventSocket` reads all messages into an `EventBurst`.
/// 2. ``received(_:)`` passes the burst to ``Monitor``, which queues the affected targets.
/// 3. `evaluateNext()` removes targets from the queue. ``KernelSession`` queries the kernel in one or two rounds.
/// 4. ``PathEvaluator`` derives verdicts from the answers. A quorum of the verdicts determines the path.
/// 5. ``Monitor`` returns the subscriptions to notify, with their paths. ``Subscription`` delivers them.
///
/// The kernel is the state. The content of an event is never used as a result: each result comes from a new route
/// lookup and link query. A lost event therefore causes one more evaluation, and no burst of events can leave a wrong
/// result. Please preserve this property.
///
/// Lock order: `session` is held during an evaluation, so that evaluations have an order. The locks of the connection
/// are taken inside it: its thread, the query socket (`RouteSockets`), the filter (`EventSocket`). `state` comes next;
/// it is held only for moments, and never during a query or a notification. The lock of a `NameRecord` is taken inside
/// either of them. `timers`, `watches`, `observers` and `calls` are never held together with another lock.
package final class PathMonitor: Sendable {
    /// The serial queue that orders all work. With one queue per namespace, an overcommit queue is not a problem. The
    /// threads of the global queues wake up every second to check their number.
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
    /// The statistics of listener calls. Separate, because listeners are called on many threads and must not delay the
    /// monitor.
    private let calls = Locked<(count: UInt64, lag: LatencyHistogram)>((0, LatencyHistogram()))

    private struct Watches {
        /// Always active, even without listeners, because sockets kept for the next query must not keep a namespace
        /// alive.
        var namespace: Cancellation?
        var sleep: Cancellation?
        var nameConfiguration: Cancellation?
        /// The accumulated sleep time of the machine at the last check.
        var slept = Duration.zero
        var isFilterRefused = false
    }

    /// Creates a monitor and connects to the kernel, by default in the process's network namespace. If a socket cannot
    /// be opened, another attempt follows later.
    package init(environment: MonitorEnvironment, logger: Logger? = nil) {
        self.environment = environment
        self.logger = logger
        session = Locked(KernelSession(kernel: environment.kernel))
        watchNamespace()
        session.withLock { _ = try? $0.connect() }
    }

    /// The reason why the kernel cannot be queried; nil if it can.
    package var failure: NetlinkError? { session.withLock { $0.failure } }

    private var now: Duration { environment.clock.monotonic }

    /// Runs `action` on the queue, after the blocks that are already queued.
    func enqueue(_ action: @escaping @Sendable () -> Void) {
        environment.clock.enqueue(on: queue, action)
    }
}

// MARK: - From an event to a notification. Runs on the queue.

extension PathMonitor {
    private func received(_ burst: EventBurst) {
        if let failure = burst.failure { return cannotRead(failure) }
        let now = now
        perform(state.withLock { $0.received(burst, at: now) })
    }

    private func perform(_ actions: [Monitor.Action]) {
        for action in actions {
            switch action {
            case .evaluate: evaluateNext()
            case .evaluateSoon: enqueue { [weak self] in self?.evaluateNext() }
            case .notify(let subscription, let change): subscription.deliver(change)
            case .schedule(let timer, let delay): schedule(timer, after: delay)
            case .cancel(let timer): wait(for: timer, nil)
            case .updateFilter: updateFilter()
            case .updateFilterSoon: enqueue { [weak self] in self?.updateFilter() }
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

    /// Evaluates the next targets in the queue, and notifies of changes. Between two batches, other blocks of the
    /// dispatch queue run: new and ended subscriptions, and other events.
    private func evaluateNext(isContinuing: Bool = false) {
        var (records, origin, continues) = state.withLock {
            $0.next(MonitorTiming.evaluationLimit, isContinuing: isContinuing)
        }
        if continues { enqueue { [weak self] in self?.evaluateNext(isContinuing: true) } }
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

    /// Evaluates `records`, and counts the paths that are changes.
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

    /// Replaces a running timer.
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

// MARK: - Queries, from any thread

extension PathMonitor {
    /// Returns the current path to a target. Queries the kernel on the calling thread.
    package func path(to record: TargetRecord, waitingForName limit: Duration) -> NetworkPath {
        record.name?.prepare(waitingAtMost: limit)
        let evaluations = evaluate([record])
        // This query has closed a broken connection. Without a new one, listeners would receive nothing more.
        if evaluations.wasListening, !evaluations.isListening { enqueue { [weak self] in self?.evaluateAll() } }
        return evaluations.results.first?.path ?? NetworkPath()
    }

    /// Returns the last evaluated path to a watched target, if the kernel has reported no change since then that may
    /// affect it. Nil if that is not certain. Sends no query.
    package func knownPath(to record: TargetRecord) -> NetworkPath? {
        session.withLock { session in
            session.isQuiet ? state.withLock { $0.settledPath(of: record.id) } : nil
        }
    }

    /// Runs a pure function of the kernel's answers, for queries beyond the path to a target.
    package func answering<Value: Sendable>(
        _ body: (inout PathEvaluator) throws(MissingAnswers) -> Value
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

    /// Runs a pure function that returns a path to a target, and counts the path if it is a change.
    ///
    /// - Parameter record: The target; nil if the path is not counted.
    package func answering<Value: Sendable>(
        of record: TargetRecord?,
        _ body: (inout PathEvaluator) throws(MissingAnswers) -> (path: NetworkPath, value: Value)
    ) throws(NetlinkError) -> (path: NetworkPath, value: Value) {
        try session.withLock { session throws(NetlinkError) in
            defer { countLookups(&session) }
            let (path, value) = try session.answering(body)
            return (record.map { note(path, of: $0) } ?? path, value)
        }
    }

    /// Counts a path if it is a change, and returns it with its generation.
    package func note(_ path: NetworkPath, of record: TargetRecord) -> NetworkPath {
        let now = now
        let (path, isNew) = state.withLock { $0.take(path, of: record.id, at: now) }
        if isNew { log(path, of: record.target) }
        return path
    }

    /// Closes a connection that cannot be used. Returns the reason that applies to every target.
    package func close(after error: NetlinkError) -> NetworkPath.UnsatisfiedReason {
        let (reason, wasListening) = session.withLock { session in
            let wasListening = session.isListening
            return (session.close(after: error), wasListening)
        }
        if wasListening { enqueue { [weak self] in self?.evaluateAll() } }
        return reason
    }

    /// Returns whether there is a path to one of the configured name servers.
    func reachesNameServer() -> Bool {
        guard let configuration = environment.resolver.configuration, configuration.asksServers else { return false }
        let servers = EvaluationSubject(.any(configuration.servers))
        let path = try? answering { evaluator throws(MissingAnswers) in try evaluator.evaluate(servers).path }
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

    /// Counts a call of a listener.
    ///
    /// - Parameter lag: The time since the notification; nil for a call that no notification caused.
    func countCall(lag: Duration?) {
        calls.withLock { calls in
            calls.count += 1
            if let lag { calls.lag.record(lag) }
        }
    }

    /// Calls `action` on the queue after each evaluation, until the result is cancelled or released. One more call may
    /// follow then.
    ///
    /// Evaluations take place only while a target has a listener: after each change of links, addresses, rules, next
    /// hops and default routes, and after changes of routes that cover a target.
    package func addObserver(_ action: @escaping @Sendable () -> Void) -> Cancellation {
        let number = observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = action
            return observers.last
        }
        return Cancellation { [weak self] in
            // The action is released outside the lock.
            let action = self?.observers.withLock { $0.all.removeValue(forKey: number) }
            withExtendedLifetime(action) {}
        }
    }
}

// MARK: - Targets and subscriptions, from any thread

extension PathMonitor {
    /// Returns the record of a target. Equal targets share one record.
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

    /// Schedules the removal of a record whose last owner has released it. The owner may hold a lock, so the record is
    /// removed later.
    func forget(_ id: TargetRecord.ID, _ target: Target) {
        enqueue { [state] in state.withLock { $0.forget(id, target) } }
    }

    func add(_ subscription: Subscription) {
        subscription.record.name?.prepare(waitingAtMost: .zero)
        let isFirst = state.withLock { $0.add(subscription) }
        if isFirst { enqueue { [self] in begin() } }
        // Another thread has ended the subscription before it was added, so it is removed here.
        if subscription.hasEnded { remove(subscription) }
    }

    func remove(_ subscription: Subscription) {
        state.withLock { $0.remove(subscription) }
        enqueue { [self] in end(subscription) }
    }
}

// MARK: - Start and end of listening, on the queue

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
        // The sockets are kept for the next query.
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
        listen(beforePerforming: state.withLock { $0.evaluateAll() })
    }

    private func addressesChanged(of target: Target) {
        guard let record = state.withLock({ $0.record(of: target) }) else { return }
        listen(beforePerforming: state.withLock { $0.addressesChanged(of: record) })
    }

    private func listen(beforePerforming actions: [Monitor.Action]) {
        if actions.isEmpty { return }
        listen()
        perform(actions)
    }

    /// Starts to listen to the kernel and to the other sources of changes, if it does not yet.
    private func listen() {
        do {
            let missing = try session.withLock { session throws(NetlinkError) in
                try session.listen(on: queue) { [weak self] burst in self?.received(burst) }
            }
            state.withLock { $0.isListening() }
            if let missing {
                if !missing.isEmpty {
                    logger?.warning(
                        "kernel lacks multicast groups",
                        metadata: ["groups": "\(missing.joined(separator: " "))"]
                    )
                }
                updateFilter()
            }
        } catch {
            logger?.warning("cannot receive netlink events; retrying", metadata: ["error": "\(error)"])
            perform(state.withLock { $0.cannotListen() })
        }
        let (namespace, sleep, configuration) = watches.withLock { ($0.namespace, $0.sleep, $0.nameConfiguration) }
        if namespace == nil { watchNamespace() }
        if sleep == nil { watchSleep() }
        if configuration == nil, state.withLock({ !$0.watchedNames.isEmpty }) { watchNameConfiguration() }
    }

    /// Replaces an event socket that cannot be read, after a delay. Its events are lost.
    private func cannotRead(_ cause: SystemError) {
        let error = NetlinkError("read netlink events", cause)
        logger?.warning("cannot receive netlink events; retrying", metadata: ["error": "\(error)"])
        _ = session.withLock { $0.close(after: error) }
        let now = now
        perform(state.withLock { $0.cannotRead(at: now) })
    }

    /// Installs the filter for the current targets. A filter that passes too much is harmless. One that passes too
    /// little is not.
    private func updateFilter() {
        guard environment.filtersRoutes, !watches.withLock({ $0.isFilterRefused }) else { return }
        let filter = state.withLock { $0.takeFilter() }
        do throws(NetlinkError) {
            try session.withLock { session throws(NetlinkError) in try session.setFilter(filter) }
        } catch  where error.stage != .filter {
            // The old filter drops messages that the new one passes. A new socket has no filter at first.
            logger?.warning("replacing the netlink event socket", metadata: ["error": "\(error)"])
            session.withLock { $0.disconnect() }
            enqueue { [weak self] in self?.evaluateAll() }
        } catch {
            watches.withLock { $0.isFilterRefused = true }
            logger?.warning("cannot filter route messages; all of them are received", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: - Other sources of changes

extension PathMonitor {
    /// Watches the name of the namespace. If it is deleted or replaced, closes the connection and evaluates all
    /// targets.
    private func watchNamespace() {
        let watch = environment.kernel.watchNamespace(on: queue) { [weak self] in
            self?.session.withLock { $0.closeIfNamespaceChanged() }
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
        logger?.debug("machine slept", metadata: ["duration": "\(slept - before)"])
        evaluateAll()
        resolveNames()
    }

    private func watchNameConfiguration() {
        let watch = environment.resolver.watchConfiguration(on: queue) { [weak self] in
            self?.logger?.debug("name service configuration changed")
            self?.resolveNames()
        }
        watches.withLock { $0.nameConfiguration = watch }
    }

    /// Schedules a query for each watched name.
    private func resolveNames() {
        for name in watchedNames { name.networkChanged() }
    }

    private var watchedNames: [NameRecord] {
        state.withLock { state in state.watchedNames.sorted().compactMap { state.states[$0]?.record?.name } }
    }
}
