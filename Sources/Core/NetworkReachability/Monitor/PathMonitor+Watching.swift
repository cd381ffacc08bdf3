import Dispatch
import LinuxPrimitives
import Logging
import Netlink

/// Beginning and ending to listen.
extension PathMonitor {
    /// Somebody listens to this target from now on. The first path is told on the queue.
    func watch(_ record: TargetRecord) {
        record.name?.prepare(waitingAtMost: .zero)
        let isFirst = state.withLock { state in
            defer { state.arrivals.append(record) }
            return state.arrivals.isEmpty
        }
        // Those that come until the queue has a turn begin together.
        if isFirst { soon { [self] in follow() } }
    }

    /// Nobody listens to this target any more.
    func unwatch(_ record: TargetRecord) {
        soon { [weak self, weak record] in
            guard let self else { return }
            // The end may have overtaken its beginning, or been followed by another: what counts is what is so now.
            if let record, !record.isWatched { leave(record) }
            endIfUnwatched()
        }
    }

    /// Begins to watch what has arrived, unless nobody wants that any more.
    private func follow() {
        let arrived = state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
        let arrivals = arrived.filter(\.isWatched)
        guard !arrivals.isEmpty else { return }
        state.withLock { state in
            for record in arrivals {
                state.watched.insert(record)
                if record.name != nil { state.names.insert(record) }
            }
        }
        for record in arrivals {
            record.name?.watch()
            index(record)
            for subscription in record.subscriptions { subscription.begin() }
        }
        begin()
        look(at: arrivals, after: EventBurst())
    }

    private func leave(_ record: TargetRecord) {
        record.name?.unwatch()
        record.waitForFlappingEnd(nil)
        state.withLock { state in
            if state.index.set([], of: record) { state.isFilterCurrent = false }
            state.watched.remove(record)
            state.names.remove(record)
            state.touched.remove(record)
        }
        filterLater()
    }

    /// Listens to the kernel and to whatever else changes answers, where it does not yet. Runs on the queue.
    func begin() {
        do {
            let isNew = try session.withLock { session throws(NetlinkError) in
                try session.listen(on: queue) { [weak self] burst in self?.heard(burst) }
            }
            state.withLock { state in
                state.retries = 0
                if isNew { state.isFilterCurrent = false }
            }
            filter()
        } catch {
            logger?.warning("cannot listen to the kernel, trying again", metadata: ["error": "\(error)"])
            scheduleRetry()
        }
        let missing = state.withLock { state in
            (
                namespace: state.namespace == nil, sleep: state.waits.sleep == nil,
                configuration: !state.names.isEmpty && state.waits.nameConfiguration == nil
            )
        }
        if missing.namespace { watchNamespace() }
        if missing.sleep { watchSleep() }
        if missing.configuration { watchNameConfiguration() }
    }

    /// Stops listening when nobody is left; the sockets stay for the next question.
    private func endIfUnwatched() {
        guard state.withLock({ $0.watched.isEmpty }) else { return }
        session.withLock { $0.stopListening() }
        // What is waited for ends outside the lock.
        let over = state.withLock { state in
            defer { state.waits = MonitorState.Waits() }
            state.backlog.clear()
            state.touched = Touched()
            state.expiryTime = nil
            return state.waits
        }
        withExtendedLifetime(over) {}
    }

    /// Lets go of the namespace when it is deleted or replaced, and looks what there is instead.
    func watchNamespace() {
        let watch = surroundings.kernel.watchNamespace(on: queue) { [weak self] in
            self?.session.withLock { $0.letGoOfOtherNamespace() }
            self?.lookAtEverything()
        }
        state.withLock { $0.namespace = watch }
    }

    private func watchSleep() {
        let clock = surroundings.clock
        let watch = clock.watchForSleep(on: queue) { [weak self] in self?.mayHaveSlept() }
        state.withLock { state in
            state.waits.sleep = watch
            state.slept = clock.boot - clock.monotonic
        }
    }

    private func mayHaveSlept() {
        let slept = surroundings.clock.boot - surroundings.clock.monotonic
        let before = state.withLock { state in
            defer { state.slept = slept }
            return state.slept
        }
        guard slept - before > MonitorTiming.shortestSleep else { return }
        logger?.debug("the machine slept", metadata: ["duration": "\(slept - before)"])
        lookAtEverything()
        namesMayHaveChanged()
    }

    private func watchNameConfiguration() {
        let watch = surroundings.resolver.watchConfiguration(on: queue) { [weak self] in
            self?.logger?.debug("the name service's configuration changed")
            self?.namesMayHaveChanged()
        }
        state.withLock { $0.waits.nameConfiguration = watch }
    }

    /// Every watched name is asked about again, soon.
    func namesMayHaveChanged() {
        for record in state.withLock({ $0.names.all }) { record.name?.networkChanged() }
    }

    func addressesChanged(of target: Target) {
        let record = state.withLock { $0.records[target] }
        guard let record, record.isWatched else { return }
        // The answer may be faster than the beginning.
        index(record)
        begin()
        look(at: [record], after: EventBurst())
    }

    /// Tries to listen again after a while, if nobody has asked for that yet.
    func scheduleRetry() {
        let delay: Duration? = state.withLock { state in
            guard state.waits.retry == nil else { return nil }
            defer { state.retries += 1 }
            return MonitorTiming.retryDelay(afterFailures: state.retries)
        }
        guard let delay else { return }
        let retry = surroundings.clock.schedule(after: delay, on: queue) { [weak self] in
            self?.state.withLock { $0.waits.retry = nil }
            self?.lookAtEverything()
        }
        state.withLock { $0.waits.retry = retry }
    }
}
