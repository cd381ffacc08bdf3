import Logging
import Netlink

/// From the bell to those who want to know. All of it runs on the queue.
extension PathMonitor {
    /// One ring of the bell.
    func heard(_ burst: EventBurst) {
        guard burst.isRelevant else {
            state.withLock { $0.statistics.count(burst) }
            return
        }
        let records = watchedRecords
        let evaluations = reconsider(look(at: records, after: burst), of: records, after: burst)
        tell(records, evaluations)
        scheduleExpiry(evaluations, isEverything: true)
        scheduleTrailingLook()
    }

    /// Looks at every watched target although no bell has rung.
    func lookAtEverything() {
        let records = watchedRecords
        guard !records.isEmpty else { return }
        begin()
        let evaluations = evaluations(of: records)
        tell(records, evaluations)
        scheduleExpiry(evaluations, isEverything: true)
    }

    /// Looks at some targets.
    func evaluate(_ records: [TargetRecord]) {
        let evaluations = evaluations(of: records)
        tell(records, evaluations)
        scheduleExpiry(evaluations, isEverything: false)
    }

    func look(at records: [TargetRecord], after burst: EventBurst) -> [Evaluation] {
        let now = surroundings.clock.monotonic
        state.withLock { state in
            state.statistics.count(burst)
            state.lastBurst = now
        }
        logger?.trace("heard", metadata: ["messages": "\(burst.messages)", "overruns": "\(burst.overruns)"])
        if burst.mayChangeInterfaces { session.withLock { $0.forgetInterfaces() } }
        if burst.mayChangeNames { namesMayHaveChanged() }
        // What is left out now, the trailing look asks for.
        let isQuick = !records.contains { record in record.subscriptions.contains(where: \.wantsEverything) }
        return evaluations(of: records, isQuick: isQuick)
    }

    private func evaluations(of records: [TargetRecord], isQuick: Bool = false) -> [Evaluation] {
        state.withLock { $0.statistics.evaluations += 1 }
        let (evaluations, isListening) = session.withLock { session in
            (session.evaluate(records, isQuick: isQuick), session.isListening)
        }
        if !isListening { scheduleRetry() }
        return evaluations
    }

    private func tell(_ records: [TargetRecord], _ evaluations: [Evaluation]) {
        for (record, evaluation) in zip(records, evaluations) {
            logger?.debug("evaluated", metadata: ["target": "\(record.target)", "path": "\(evaluation.path)"])
            let (listeners, isFlapping, awaitsEnd) = record.count(evaluation.path.status)
            var path = evaluation.path
            if isFlapping != path.isFlapping { path = flappingChanged(path, of: record) }
            if isFlapping, !awaitsEnd { scheduleFlappingEnd(of: record) }
            for subscription in listeners { subscription.offer(path) }
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
        state.withLock { $0.waits.trailingLook = nil }
        lookAtEverything()
    }

    /// Looks again when a route expires: the kernel says so only when it cleans up, many seconds later.
    private func scheduleExpiry(_ evaluations: [Evaluation], isEverything: Bool) {
        let now = surroundings.clock.monotonic
        let next = evaluations.compactMap(\.lifetime).min().map { now + $0 + MonitorTiming.lifetimeSlack }
        let scheduled = state.withLock { $0.expiryTime }
        if !isEverything, let scheduled, scheduled <= next ?? .seconds(Int64.max) { return }
        guard next != nil || scheduled != nil else { return }
        let timer = next.map { time in
            surroundings.clock.schedule(after: time - now, on: queue) { [weak self] in self?.lookAtEverything() }
        }
        state.withLock { state in
            state.expiryTime = next
            state.waits.expiry = timer
        }
    }
}

extension EventBurst {
    fileprivate var mayChangeInterfaces: Bool { overruns > 0 || subjects.contains(.link) }

    /// A new way may lead to other name servers; routes to elsewhere do not.
    fileprivate var mayChangeNames: Bool {
        overruns > 0 || !subjects.isDisjoint(with: [.link, .address, .defaultRoute, .rule, .nextHop, .configuration])
    }
}
