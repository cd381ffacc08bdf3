import Dispatch
import LinuxPrimitives
import Logging
import Netlink

/// From the bell to those who want to know. All of it runs on the queue.
extension PathMonitor {
    /// One ring of the bell.
    func heard(_ burst: EventBurst) {
        let concerned = note(burst)
        guard !concerned.isEmpty else { return }
        look(at: concerned, after: burst)
        scheduleTrailingLook()
    }

    /// Looks at every watched target although no bell has rung.
    func lookAtEverything() {
        let records = state.withLock { $0.watched.all }
        guard !records.isEmpty else { return }
        begin()
        look(at: records, after: EventBurst())
    }

    /// Counts a burst, forgets what it may have made wrong, and says which targets it concerns.
    func note(_ burst: EventBurst) -> [TargetRecord] {
        let now = surroundings.clock.monotonic
        let concerned: [TargetRecord] = state.withLock { state in
            state.statistics.count(burst)
            guard burst.isRelevant else { return [] }
            let concerned = burst.isOnlyRoutes ? state.index.records(concernedBy: burst.prefixes) : nil
            if concerned?.isEmpty ?? false {
                state.statistics.irrelevantMessages += UInt64(burst.messages)
                return []
            }
            state.lastBurst = now
            state.touched.add(concerned)
            return concerned ?? state.watched.all
        }
        if concerned.isEmpty { return [] }
        logger?.trace("heard", metadata: ["messages": "\(burst.messages)", "overruns": "\(burst.overruns)"])
        if burst.mayChangeInterfaces { session.withLock { $0.forgetInterfaces() } }
        if burst.mayChangeNames { namesMayHaveChanged() }
        return concerned
    }

    /// Looks at targets now, or at some of them now and at the rest after everybody else who waits for the queue: those who
    /// begin or end to listen, and other events.
    func look(at records: [TargetRecord], after burst: EventBurst) {
        let part = Array(records.prefix(MonitorTiming.lookLimit))
        if part.count < records.count { lookLater(at: records.dropFirst(part.count), after: burst) }
        let open = unconfirmed(part, after: burst)
        let evaluations = reconsider(evaluations(of: open, burst.depth), of: open, after: burst)
        tell(open, evaluations, since: burst.noticed)
        scheduleExpiry(evaluations)
        callObservers()
    }

    func lookLater(at records: some Sequence<TargetRecord>, after burst: EventBurst) {
        let isFirst = state.withLock { state in
            defer { state.backlog.add(records, after: burst) }
            return state.backlog.isEmpty
        }
        if isFirst { soon { [weak self] in self?.lookAtBacklog() } }
    }

    private func lookAtBacklog() {
        let (part, burst, isMore) = state.withLock { state in
            let burst = state.backlog.burst
            return (state.backlog.next(MonitorTiming.lookLimit), burst, !state.backlog.isEmpty)
        }
        look(at: part.filter(\.isWatched), after: burst)
        if isMore {
            soon { [weak self] in self?.lookAtBacklog() }
        } else if state.withLock({ $0.watched.all.count }) > MonitorTiming.lookLimit * 4 {
            Memory.giveBack()
        }
    }

    /// Without those whose path a quick look confirms.
    private func unconfirmed(_ records: [TargetRecord], after burst: EventBurst) -> [TargetRecord] {
        guard burst.isRelevant, burst.leavesKnownSources, records.contains(where: { $0.inquiry != nil }) else {
            return records
        }
        let open = session.withLock { $0.unconfirmed(records, burst.prefixes) }
        state.withLock { $0.statistics.evaluatedTargets += UInt64(records.count - open.count) }
        return open
    }

    func evaluations(of records: [TargetRecord], _ depth: LookDepth) -> [Evaluation] {
        if records.isEmpty { return [] }
        let (evaluations, isListening, lookups, underlay) = session.withLock { session in
            (session.evaluate(records, depth), session.isListening, session.takeLookups(), session.underlay)
        }
        state.withLock { state in
            state.statistics.evaluations += 1
            state.statistics.evaluatedTargets += UInt64(records.count)
            state.statistics.lookups += lookups
        }
        if !isListening { scheduleRetry() }
        if !underlay.isEmpty { noteUnderlay(underlay) }
        return evaluations
    }

    private func tell(
        _ records: [TargetRecord],
        _ evaluations: [Evaluation],
        since noticed: Duration?
    ) {
        for (record, evaluation) in zip(records, evaluations) {
            logger?.debug("evaluated", metadata: ["target": "\(record.target)", "path": "\(evaluation.path)"])
            guard let listeners = record.listeners(of: evaluation.path) else { continue }
            let (isFlapping, awaitsEnd) = record.count(evaluation.path.status)
            var path = evaluation.path
            if isFlapping != path.isFlapping { path = flappingChanged(path, of: record) }
            if isFlapping, !awaitsEnd { scheduleFlappingEnd(of: record) }
            let shared = record.shared(path)
            for listener in listeners { listener.offer(shared, since: noticed) }
        }
    }

    /// Looks once more when it has been quiet for a while.
    private func scheduleTrailingLook() {
        guard state.withLock({ $0.waits.trailingLook == nil }) else { return }
        scheduleTrailingLook(after: MonitorTiming.trailingLook)
    }

    private func scheduleTrailingLook(after delay: Duration) {
        let timer = surroundings.clock.schedule(after: delay, on: queue) { [weak self] in self?.trailingLookIsDue() }
        state.withLock { $0.waits.trailingLook = timer }
    }

    private func trailingLookIsDue() {
        let quiet = surroundings.clock.monotonic - state.withLock { $0.lastBurst }
        guard quiet >= MonitorTiming.trailingLook else {
            scheduleTrailingLook(after: MonitorTiming.trailingLook - quiet)
            return
        }
        let touched = state.withLock { state in
            defer { state.touched = Touched() }
            state.waits.trailingLook = nil
            return state.touched
        }
        switch touched {
        case .everything: lookAtEverything()
        case .some(let records): look(at: records.all.filter(\.isWatched), after: EventBurst())
        }
    }

    /// Looks again when a route expires: the kernel says so only when it cleans up, many seconds later.
    private func scheduleExpiry(_ evaluations: [Evaluation]) {
        guard let lifetime = evaluations.lazy.compactMap(\.lifetime).min() else { return }
        let now = surroundings.clock.monotonic
        let next = now + lifetime + MonitorTiming.lifetimeSlack
        if let scheduled = state.withLock({ $0.expiryTime }), scheduled <= next { return }
        let timer = surroundings.clock.schedule(after: next - now, on: queue) { [weak self] in
            self?.state.withLock { $0.expiryTime = nil }
            self?.lookAtEverything()
        }
        state.withLock { state in
            state.expiryTime = next
            state.waits.expiry = timer
        }
    }
}

extension EventBurst {
    /// What a look may leave out that the trailing look asks for. Where IPv4 may be lost, asking about IPv6 at once saves a
    /// round.
    fileprivate var depth: LookDepth {
        guard isRelevant, mayLose else { return isRelevant ? .quick : .whole }
        return mayTakeSources ? .searching : .whole
    }
}
