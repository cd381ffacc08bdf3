import LinuxSupport
import Netlink

/// The state machine of a monitor. Each function takes an event, changes the state, and returns the actions to perform.
///
/// It sends no query, does not wait and calls no listener. ``PathMonitor`` performs the actions.
struct Monitor {
    /// The state of one target.
    struct TargetState {
        var path = NetworkPath()
        /// The generation of the path that was last offered to the subscribers.
        var offered: UInt64 = 0
        var subscribers: [Subscriber] = []
        var flaps = FlapCounter()
        /// The addresses under which the target is listed in the index.
        var indexed: [WireAddress] = []

        /// The record of a target that has listeners.
        var record: TargetRecord? { subscribers.first?.subscription.record }
    }

    /// A weak reference to a record. Listeners and callers retain records; the monitor does not.
    private struct WeakRecord {
        weak let record: TargetRecord?
        let id: TargetRecord.ID
    }

    /// A subscriber of a target.
    struct Subscriber {
        let subscription: Subscription
        /// The last reported path.
        var last: NetworkPath?
        /// A Boolean value that indicates whether the subscriber has begun. Paths of evaluations that started before
        /// are older than the subscriber, and are not reported.
        var hasBegun = false
        /// The state of the wait for the name of the host, which delays the first report.
        var nameWait = NameWait.ended
        /// A Boolean value that indicates whether the next evaluation decides on the change that is held back.
        var isDue = false
    }

    enum NameWait {
        case notStarted
        case running
        case ended
    }

    /// An action for ``PathMonitor``.
    enum Action {
        case notify(Subscription, PathChange)
        case schedule(MonitorTimer, after: Duration)
        case cancel(MonitorTimer)
        /// Evaluates the next targets in the queue.
        case evaluate
        /// The same as `evaluate`, after the blocks that are already in the dispatch queue.
        case evaluateSoon
        case updateFilter
        case updateFilterSoon
        case forgetInterfaces
        case resolveNames
        case reportFlapping(Target, Bool, changes: Int)
    }

    private(set) var states: [TargetRecord.ID: TargetState] = [:]
    /// The delayed changes of each subscription that reports only states that last.
    private var settling: [ObjectIdentifier: Settling] = [:]
    private var records: [Target: WeakRecord] = [:]
    private var lastID: TargetRecord.ID = 0
    /// The targets that have listeners.
    private(set) var watched: Set<TargetRecord.ID> = []
    /// The watched targets that are host names.
    private(set) var watchedNames: Set<TargetRecord.ID> = []
    /// The targets whose subscriptions begin at the next turn of the queue.
    private var arrivals: [TargetRecord] = []
    private var index = TargetIndex()
    private var isFilterPlanned = false

    /// The events that led to evaluations.
    struct Origin: Hashable {
        /// The time at which the first notification was noticed; nil if none caused the evaluations.
        var noticed: Duration?
        /// The time at which the last possible cause was known; nil if it is the same as `noticed`.
        var completed: Duration?
        /// The netlink port of the process that removed something, if a single burst caused the evaluations. See
        /// ``EventBurst/remover``.
        var remover: UInt32?
    }

    /// The targets that wait for an evaluation, first in, first out, and the events that caused it.
    private var line: [TargetRecord.ID] = []
    private var lineStart = 0
    private var inLine: Set<TargetRecord.ID> = []
    /// A Boolean value that indicates whether targets were removed from the queue and their paths are not known yet.
    private var isEvaluating = false
    /// A Boolean value that indicates whether a turn of the dispatch queue is scheduled for the remaining targets.
    private var isContinued = false
    private var origin = Origin()
    /// The targets of the trailing evaluation; nil for all.
    private var touched: Set<TargetRecord.ID>? = []
    private var isTrailingScheduled = false
    private var lastBurst = Duration.zero
    private var nextExpiry: Duration?
    private var isRetryScheduled = false
    private var retries = 0
    /// The number of read failures since the last received event.
    private var readFailures = 0
    private(set) var statistics = MonitorStatistics()
}

// MARK: - Targets

extension Monitor {
    /// Returns the record of a target; nil if it has none yet.
    func record(of target: Target) -> TargetRecord? {
        records[target]?.record
    }

    mutating func makeID() -> TargetRecord.ID {
        lastID += 1
        return lastID
    }

    mutating func insert(_ record: TargetRecord) {
        records[record.target] = WeakRecord(record: record, id: record.id)
        states[record.id] = TargetState()
    }

    /// Removes a record whose last owner has released it.
    mutating func forget(_ id: TargetRecord.ID, _ target: Target) {
        states[id] = nil
        if records[target]?.id == id { records[target] = nil }
    }

    /// Counts a new path if it is a change, and returns it with its generation. Called in the order of evaluation.
    mutating func take(
        _ path: NetworkPath,
        of id: TargetRecord.ID,
        at now: Duration
    ) -> (path: NetworkPath, isNew: Bool) {
        guard let place = states.index(forKey: id) else { return (path, false) }
        return states.values[place].take(path, at: now)
    }

    mutating func countLookups(_ count: UInt64) {
        statistics.lookups += count
    }

    /// Returns the number of status changes of a target within the flapping window.
    mutating func flapCount(of id: TargetRecord.ID, at now: Duration) -> Int {
        states[id]?.flaps.forget(at: now)
        return states[id]?.flaps.count ?? 0
    }
}

// MARK: - Subscriptions

extension Monitor {
    /// Adds a subscription. Returns whether it is the first arrival, so that a turn of the queue must be scheduled.
    mutating func add(_ subscription: Subscription) -> Bool {
        let (id, interest) = (subscription.record.id, subscription.interest)
        settling[ObjectIdentifier(subscription)] = subscription.settleTime.map { Settling(for: $0, interest) }
        var subscriber = Subscriber(subscription: subscription)
        if case .name = subscription.record.target.destination, subscription.nameWait > .zero {
            subscriber.nameWait = .notStarted
        }
        states[id]?.subscribers.append(subscriber)
        arrivals.append(subscription.record)
        return arrivals.count == 1
    }

    mutating func remove(_ subscription: Subscription) {
        states[subscription.record.id]?.subscribers.removeAll { $0.subscription === subscription }
    }

    /// Begins all subscriptions that have arrived, and starts to watch their targets. Subscriptions that arrive before
    /// the queue has a turn begin together.
    mutating func begin() -> (arrived: [TargetRecord], actions: [Action]) {
        let arrived = arrivals.filter { states[$0.id]?.subscribers.isEmpty == false }
        arrivals = []
        var isIndexed = true
        for record in arrived {
            watched.insert(record.id)
            if record.name != nil { watchedNames.insert(record.id) }
            if setAddresses(record.addresses, of: record.id) { isIndexed = false }
            guard var state = states[record.id] else { continue }
            for place in state.subscribers.indices { state.subscribers[place].hasBegun = true }
            // Every subscriber is offered a path, even if it is not a change.
            state.offered = 0
            states[record.id] = state
        }
        enqueue(arrived.map(\.id))
        return (arrived, (isIndexed ? [] : [.updateFilter]) + [.evaluate])
    }

    /// Ends the watching of a target without subscribers. The current state decides: the end of a subscription may
    /// overtake its beginning, or another subscription may follow.
    mutating func end(_ subscription: Subscription) -> (isUnwatched: Bool, isLast: Bool, actions: [Action]) {
        let id = subscription.record.id
        let identifier = ObjectIdentifier(subscription)
        settling[identifier] = nil
        var actions: [Action] = [.cancel(.settled(identifier, id))]
        if subscription.nameWait > .zero { actions.append(.cancel(.nameWait(identifier, id))) }
        let isUnwatched = states[id]?.subscribers.isEmpty ?? true
        if isUnwatched, watched.remove(id) != nil {
            watchedNames.remove(id)
            // A filter that passes too much is harmless, and many subscriptions may end at once.
            if setAddresses([], of: id), !isFilterPlanned {
                isFilterPlanned = true
                actions.append(.updateFilterSoon)
            }
            touched?.remove(id)
            actions.append(.cancel(.flappingEnd(id)))
        }
        guard watched.isEmpty, arrivals.isEmpty else { return (isUnwatched, false, actions) }
        actions += [.cancel(.trailing), .cancel(.expiry), .cancel(.retry)]
        (touched, isTrailingScheduled, nextExpiry, isRetryScheduled) = ([], false, nil, false)
        return (isUnwatched, true, actions)
    }

    /// Sets the addresses of a target. Returns whether the set has changed.
    private mutating func setAddresses(_ addresses: [WireAddress], of id: TargetRecord.ID) -> Bool {
        guard let known = states[id]?.indexed, known != addresses else { return false }
        index.move(id, from: known, to: addresses)
        states[id]?.indexed = addresses
        return true
    }

    /// Processes new addresses of a host name.
    mutating func addressesChanged(of record: TargetRecord) -> [Action] {
        guard watched.contains(record.id) else { return [] }
        return (setAddresses(record.addresses, of: record.id) ? [.updateFilter] : []) + evaluate(record.id)
    }

    /// Returns the filter for the watched targets.
    mutating func takeFilter() -> RouteFilter {
        isFilterPlanned = false
        return index.makeFilter()
    }
}

// MARK: - Events

extension Monitor {
    /// Processes a burst of events from the kernel.
    mutating func received(_ burst: EventBurst, at now: Duration) -> [Action] {
        statistics.count(burst)
        readFailures = 0
        guard burst.isRelevant else { return [] }
        // Also if no target is affected, because new subscriptions evaluate over the same connection.
        var actions: [Action] = burst.mayChangeInterfaces ? [.forgetInterfaces] : []
        let concerned = burst.isOnlyRoutes ? index.targets(concernedBy: burst.prefixes) : nil
        if concerned?.isEmpty ?? watched.isEmpty {
            statistics.irrelevantMessages += UInt64(burst.messages)
            return actions
        }
        lastBurst = now
        if let concerned { touched?.formUnion(concerned) } else { touched = nil }
        let origin = Origin(noticed: burst.noticed, completed: burst.completed, remover: burst.remover)
        enqueue(concerned ?? watched.sorted(), origin)
        actions.append(.evaluate)
        if burst.mayChangeNames { actions.append(.resolveNames) }
        if !isTrailingScheduled {
            isTrailingScheduled = true
            actions.append(.schedule(.trailing, after: MonitorTiming.trailingEvaluation))
        }
        return actions
    }

    /// Queues all watched targets for evaluation without an event.
    mutating func evaluateAll() -> [Action] {
        enqueue(watched.sorted())
        return watched.isEmpty ? [] : [.evaluate]
    }

    /// Adds the far ends of tunnels through which targets are reached. All targets are evaluated, because earlier
    /// changes of routes to these addresses were not observed.
    mutating func foundTunnels(to ends: Set<WireAddress>) -> [Action] {
        guard index.setTunnelEnds(ends) else { return [] }
        enqueue(watched.sorted())
        return [.updateFilter, .evaluateSoon]
    }

    /// Records that listening works.
    mutating func isListening() {
        retries = 0
    }

    /// Schedules another attempt, because listening does not work.
    mutating func cannotListen() -> [Action] {
        scheduleRetry(after: \.retries)
    }

    /// Sets the state of every watched target to unknown, because events can no longer be read.
    mutating func cannotRead(at now: Duration) -> [Action] {
        var actions: [Action] = []
        for id in watched.sorted() {
            guard let record = states[id]?.record else { continue }
            let path = take(NetworkPath(reason: .netlinkUnavailable), of: id, at: now).path
            offer(path, of: record, Origin(), at: now, &actions)
        }
        return actions + scheduleRetry(after: \.readFailures)
    }

    private mutating func scheduleRetry(after failures: WritableKeyPath<Monitor, Int>) -> [Action] {
        guard !isRetryScheduled else { return [] }
        isRetryScheduled = true
        defer { self[keyPath: failures] += 1 }
        return [.schedule(.retry, after: MonitorTiming.retryDelay(afterFailures: self[keyPath: failures]))]
    }

    /// Processes a timer that has fired. Returns whether to start listening before the actions are performed.
    mutating func fired(_ timer: MonitorTimer, at now: Duration) -> (listens: Bool, actions: [Action]) {
        switch timer {
        case .trailing:
            let quiet = now - lastBurst
            guard quiet >= MonitorTiming.trailingEvaluation else {
                return (false, [.schedule(.trailing, after: MonitorTiming.trailingEvaluation - quiet)])
            }
            isTrailingScheduled = false
            let targets = (touched ?? watched).intersection(watched)
            touched = []
            enqueue(targets.sorted())
            return (true, targets.isEmpty ? [] : [.evaluate])
        case .expiry:
            nextExpiry = nil
            return (true, evaluateAll())
        case .retry:
            isRetryScheduled = false
            return (true, evaluateAll())
        case .settled(let subscription, let id):
            guard let place = place(of: subscription, id) else { return (false, []) }
            states[id]?.subscribers[place].isDue = true
            return (false, evaluate(id))
        case .nameWait(let subscription, let id):
            guard let place = place(of: subscription, id) else { return (false, []) }
            states[id]?.subscribers[place].nameWait = .ended
            // The path may be the same as at the start of the wait.
            states[id]?.offered = 0
            return (false, evaluate(id))
        case .flappingEnd(let id):
            // Every subscriber is offered the path once more.
            states[id]?.offered = 0
            return (false, evaluate(id))
        }
    }

    private mutating func evaluate(_ id: TargetRecord.ID) -> [Action] {
        enqueue([id])
        return [.evaluate]
    }

    private func place(of subscription: ObjectIdentifier, _ id: TargetRecord.ID) -> Int? {
        states[id]?.subscribers.firstIndex { ObjectIdentifier($0.subscription) == subscription }
    }
}

// MARK: - The queue of targets

extension Monitor {
    /// Queues targets, each once. A small number is queued before the many targets of a storm.
    private mutating func enqueue(_ ids: some Sequence<TargetRecord.ID>, _ new: Origin = Origin()) {
        // The origin of targets that already wait is now ambiguous.
        origin.remover = line.isEmpty ? new.remover : nil
        origin.completed = new.completed ?? (origin.noticed == nil ? nil : new.noticed) ?? origin.completed
        origin.noticed = origin.noticed ?? new.noticed
        let ids = ids.filter { inLine.insert($0).inserted }
        line.insert(contentsOf: ids, at: ids.count < MonitorTiming.evaluationLimit ? lineStart : line.count)
    }

    /// Removes at most `count` targets from the queue. Returns those that are watched.
    ///
    /// - Parameter isContinuing: Whether this is the scheduled turn of the dispatch queue.
    /// - Returns: The targets, their origin, and whether to schedule another turn of the dispatch queue. Only one is
    ///   scheduled at a time, however many events arrive.
    mutating func next(
        _ count: Int,
        isContinuing: Bool
    ) -> (records: [TargetRecord], origin: Origin, continues: Bool) {
        if isContinuing { isContinued = false }
        let end = min(lineStart + count, line.count)
        let part = line[lineStart..<end]
        lineStart = end
        let started = origin
        if lineStart == line.count {
            (line, lineStart, origin) = ([], 0, Origin())
        } else if lineStart > line.count / 2 {
            line.removeFirst(lineStart)
            lineStart = 0
        }
        inLine.subtract(part)
        // Targets without listeners are not evaluated.
        let records = part.compactMap { watched.contains($0) ? states[$0]?.record : nil }
        isEvaluating = !records.isEmpty
        let continues = !line.isEmpty && !isContinued
        if continues { isContinued = true }
        return (records, started, continues)
    }
}

// MARK: - Results

extension Monitor {
    /// Returns the path of a watched target; nil if the target is to be evaluated again.
    func settledPath(of id: TargetRecord.ID) -> NetworkPath? {
        guard watched.contains(id), !inLine.contains(id), !isEvaluating, !isTrailingScheduled,
            let state = states[id], state.subscribers.contains(where: \.hasBegun)
        else { return nil }
        return state.path
    }

    /// Processes the results of an evaluation. Returns the notifications.
    ///
    /// - Parameter origin: The events that caused the evaluation.
    mutating func evaluated(
        _ results: [(record: TargetRecord, path: NetworkPath, lifetime: Duration?)],
        _ origin: Origin,
        at now: Duration
    ) -> [Action] {
        isEvaluating = false
        statistics.evaluations += 1
        statistics.evaluatedTargets += UInt64(results.count)
        var actions: [Action] = []
        for (record, path, _) in results { offer(path, of: record, origin, at: now, &actions) }
        if let lifetime = results.lazy.compactMap(\.lifetime).min() {
            let next = now + lifetime + MonitorTiming.lifetimeSlack
            if nextExpiry.map({ next < $0 }) ?? true {
                nextExpiry = next
                actions.append(.schedule(.expiry, after: next - now))
            }
        }
        return actions
    }

    private mutating func offer(
        _ path: NetworkPath,
        of record: TargetRecord,
        _ origin: Origin,
        at now: Duration,
        _ actions: inout [Action]
    ) {
        // In place, because a copy of the state would copy its subscribers.
        guard let place = states.index(forKey: record.id), let offer = states.values[place].offer(path, at: now) else {
            return
        }
        if offer.path.isFlapping != path.isFlapping {
            actions.append(.reportFlapping(record.target, offer.path.isFlapping, changes: offer.changes))
        }
        if let end = offer.flappingEnd { actions.append(.schedule(.flappingEnd(record.id), after: end - now)) }
        states.values[place].notify(of: offer.path, origin, &settling, &actions)
    }
}

extension Monitor.TargetState {
    /// Counts a new path if it is a change, and returns it with its generation.
    fileprivate mutating func take(_ new: NetworkPath, at now: Duration) -> (path: NetworkPath, isNew: Bool) {
        var new = new
        if flaps.isFlapping { flaps.forget(at: now) }
        new.isFlapping = flaps.isFlapping
        new.generation = path.generation
        let isNew = new.generation == 0 || new != path
        if isNew {
            new.generation += 1
            path = new
        }
        return (new, isNew)
    }

    /// Returns the path for the subscribers; nil if they have received it and none of them holds back a change.
    fileprivate mutating func offer(
        _ new: NetworkPath,
        at now: Duration
    ) -> (path: NetworkPath, changes: Int, flappingEnd: Duration?)? {
        let isHolding = subscribers.contains { $0.subscription.settleTime != nil }
        guard new.generation != offered || isHolding else { return nil }
        let waits = flaps.isFlapping && offered != 0
        var new = new
        flaps.take(new.status, at: now)
        if flaps.isFlapping != new.isFlapping {
            new.isFlapping = flaps.isFlapping
            new.generation += 1
            path = new
        }
        offered = new.generation
        return (new, flaps.count, waits ? nil : flaps.end)
    }

    /// Offers a path to the subscribers that have begun. The others receive a later path.
    fileprivate mutating func notify(
        of path: NetworkPath,
        _ origin: Monitor.Origin,
        _ settling: inout [ObjectIdentifier: Settling],
        _ actions: inout [Monitor.Action]
    ) {
        for number in subscribers.indices where subscribers[number].hasBegun {
            let identifier = ObjectIdentifier(subscribers[number].subscription)
            subscribers[number].offer(path, origin, &settling[identifier], &actions)
        }
    }
}
