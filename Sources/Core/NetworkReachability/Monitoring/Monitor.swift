import LinuxSupport
import Netlink

/// The state machine of a monitor: each function takes something that happened, changes the state, and returns what is to be done.
///
/// It sends no query, does not wait and calls no listener: ``PathMonitor`` performs the actions.
struct Monitor {
    /// The state of one target.
    struct TargetState {
        var path = NetworkPath()
        /// The generation of the path that subscribers were offered last.
        var offered: UInt64 = 0
        var subscribers: [Subscriber] = []
        var flaps = FlapCounter()
        /// The addresses it is found by in the index.
        var indexed: [WireAddress] = []

        /// The record of a target that has listeners.
        var record: TargetRecord? { subscribers.first?.subscription.record }
    }

    /// Listeners and callers hold a record. The monitor does not.
    private struct WeakRecord {
        weak let record: TargetRecord?
        let id: TargetRecord.ID
    }

    /// A subscriber of a target.
    struct Subscriber {
        let subscription: Subscription
        /// The path that was reported last.
        var last: NetworkPath?
        /// From its beginning on paths count; those of evaluations under way are older than the subscriber.
        var hasBegun = false
        /// Whether the first notification waits for the name of the host.
        var nameWait = NameWait.isOver
        /// Whether the next evaluation decides about the change that is held back.
        var isDue = false
    }

    enum NameWait {
        case isToBegin
        case runs
        case isOver
    }

    /// An action for ``PathMonitor``.
    enum Action {
        case notify(Subscription, PathChange)
        case schedule(MonitorTimer, after: Duration)
        case cancel(MonitorTimer)
        /// Takes the next targets in line and evaluates them.
        case evaluate
        /// The same after everybody else who waits for the queue.
        case evaluateSoon
        case updateFilter
        case updateFilterSoon
        case forgetInterfaces
        case resolveNames
        case reportFlapping(Target, Bool, changes: Int)
    }

    private(set) var states: [TargetRecord.ID: TargetState] = [:]
    /// What subscriptions hold back; those that hold nothing back have none.
    private var settling: [ObjectIdentifier: Settling] = [:]
    private var records: [Target: WeakRecord] = [:]
    private var lastID: TargetRecord.ID = 0
    /// The targets that have listeners.
    private(set) var watched: Set<TargetRecord.ID> = []
    /// Those of them that are hosts by name.
    private(set) var watchedNames: Set<TargetRecord.ID> = []
    /// Those that begin to be watched as soon as the queue has a turn for them.
    private var arrivals: [TargetRecord] = []
    private var index = TargetIndex()
    private var isFilterPlanned = false

    /// The events that led to evaluations.
    struct Origin: Hashable {
        /// When the first notification was noticed; nil where none led to them.
        var noticed: Duration?
        /// When the last of what may have led to them was known of; nil where that is the first.
        var completed: Duration?
        /// The port of the process that removed something, if one burst alone led to them; see ``EventBurst/remover``.
        var remover: UInt32?
    }

    /// The targets in line to be evaluated, first in, first out, and where that comes from.
    private var line: [TargetRecord.ID] = []
    private var lineStart = 0
    private var inLine: Set<TargetRecord.ID> = []
    /// Whether targets were taken out of the line, and their paths are not known yet.
    private var isEvaluating = false
    /// Whether a turn of the queue is scheduled for the rest of the line.
    private var isContinued = false
    private var origin = Origin()
    /// The targets of the trailing evaluation; nil for all.
    private var touched: Set<TargetRecord.ID>? = []
    private var isTrailingScheduled = false
    private var lastBurst = Duration.zero
    private var nextExpiry: Duration?
    private var isRetryScheduled = false
    private var retries = 0
    /// Since something was heard last.
    private var readFailures = 0
    private(set) var statistics = MonitorStatistics()
}

// MARK: - Targets

extension Monitor {
    /// The record of a target; nil if it has none yet.
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

    /// The last owner has released the record.
    mutating func forget(_ id: TargetRecord.ID, _ target: Target) {
        states[id] = nil
        if records[target]?.id == id { records[target] = nil }
    }

    /// Counts a new path as a change where it is one, and returns it with its generation. In the order of evaluation.
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

    /// How often the status of a target changed lately.
    mutating func flapCount(of id: TargetRecord.ID, at now: Duration) -> Int {
        states[id]?.flaps.forget(at: now)
        return states[id]?.flaps.count ?? 0
    }
}

// MARK: - Subscriptions

extension Monitor {
    /// Whether this is the first arrival, so that the queue is to be asked for a turn.
    mutating func add(_ subscription: Subscription) -> Bool {
        let (id, interest) = (subscription.record.id, subscription.interest)
        settling[ObjectIdentifier(subscription)] = subscription.settleTime.map { Settling(for: $0, interest) }
        var subscriber = Subscriber(subscription: subscription)
        if case .name = subscription.record.target.destination, subscription.nameWait > .zero {
            subscriber.nameWait = .isToBegin
        }
        states[id]?.subscribers.append(subscriber)
        arrivals.append(subscription.record)
        return arrivals.count == 1
    }

    mutating func remove(_ subscription: Subscription) {
        states[subscription.record.id]?.subscribers.removeAll { $0.subscription === subscription }
    }

    /// Lets all begin that have arrived: their targets are watched from now on. Those that come until the queue has a turn begin
    /// together.
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
            // Everybody is offered a path although it may be no change.
            state.offered = 0
            states[record.id] = state
        }
        enqueue(arrived.map(\.id))
        return (arrived, (isIndexed ? [] : [.updateFilter]) + [.evaluate])
    }

    /// Ends what nobody wants any more. What counts is what is so now: an end may have overtaken its beginning, or been followed
    /// by another.
    mutating func end(_ subscription: Subscription) -> (isUnwatched: Bool, isLast: Bool, actions: [Action]) {
        let id = subscription.record.id
        let identifier = ObjectIdentifier(subscription)
        settling[identifier] = nil
        var actions: [Action] = [.cancel(.settled(identifier, id))]
        if subscription.nameWait > .zero { actions.append(.cancel(.nameWait(identifier, id))) }
        let isUnwatched = states[id]?.subscribers.isEmpty ?? true
        if isUnwatched, watched.remove(id) != nil {
            watchedNames.remove(id)
            // A filter that is too wide does no harm, and many may end at once.
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

    /// The addresses of a name are others.
    mutating func addressesChanged(of record: TargetRecord) -> [Action] {
        guard watched.contains(record.id) else { return [] }
        let isNew = setAddresses(record.addresses, of: record.id)
        enqueue([record.id])
        return (isNew ? [.updateFilter] : []) + [.evaluate]
    }

    /// The filter for the watched targets.
    mutating func takeFilter() -> RouteFilter {
        isFilterPlanned = false
        return index.filter
    }
}

// MARK: - Events

extension Monitor {
    /// The kernel has announced changes.
    mutating func heard(_ burst: EventBurst, at now: Duration) -> [Action] {
        statistics.count(burst)
        readFailures = 0
        guard burst.isRelevant else { return [] }
        // Also if no target is concerned: new subscriptions evaluate over the same connection.
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

    /// Every watched target is to be evaluated although nothing was heard.
    mutating func evaluateAll() -> [Action] {
        enqueue(watched.sorted())
        return watched.isEmpty ? [] : [.evaluate]
    }

    /// Tunnels that targets turned out to be reached through matter too; what changed before that was known is looked for.
    mutating func foundTunnels(to ends: Set<WireAddress>) -> [Action] {
        guard index.setTunnelEnds(ends) else { return [] }
        enqueue(watched.sorted())
        return [.updateFilter, .evaluateSoon]
    }

    /// Listening works.
    mutating func isListening() {
        retries = 0
    }

    /// Listening does not work.
    mutating func cannotListen() -> [Action] {
        scheduleRetry(after: \.retries)
    }

    /// Events can no longer be read, so the state of every watched target is unknown.
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

    /// A timer has fired. Returns whether to listen before the actions.
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
            enqueue([id])
            return (false, [.evaluate])
        case .nameWait(let subscription, let id):
            guard let place = place(of: subscription, id) else { return (false, []) }
            states[id]?.subscribers[place].nameWait = .isOver
            // The path may be the same as when the wait began.
            states[id]?.offered = 0
            enqueue([id])
            return (false, [.evaluate])
        case .flappingEnd(let id):
            // Everybody is offered the path once more.
            states[id]?.offered = 0
            enqueue([id])
            return (false, [.evaluate])
        }
    }
}

extension Monitor {
    private func place(of subscription: ObjectIdentifier, _ id: TargetRecord.ID) -> Int? {
        states[id]?.subscribers.firstIndex { ObjectIdentifier($0.subscription) == subscription }
    }
}

// MARK: - The line

extension Monitor {
    /// Puts targets in line, each once: few of them before the many of a storm.
    private mutating func enqueue(_ ids: some Sequence<TargetRecord.ID>, _ new: Origin = Origin()) {
        // The origin of targets that wait already is ambiguous now.
        origin.remover = line.isEmpty ? new.remover : nil
        origin.completed = new.completed ?? (origin.noticed == nil ? nil : new.noticed) ?? origin.completed
        origin.noticed = origin.noticed ?? new.noticed
        let ids = ids.filter { inLine.insert($0).inserted }
        line.insert(contentsOf: ids, at: ids.count < MonitorTiming.evaluationLimit ? lineStart : line.count)
    }

    /// Takes at most `count` targets that are watched out of the line.
    ///
    /// - Parameter isContinuing: Whether this is the turn that was asked for.
    /// - Returns: Them, and whether the queue is to be asked for another turn: one at a time, however often events put more in line.
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
    /// The path of a watched target, unless it is to be evaluated again.
    func settledPath(of id: TargetRecord.ID) -> NetworkPath? {
        guard watched.contains(id), !inLine.contains(id), !isEvaluating, !isTrailingScheduled,
            let state = states[id], state.subscribers.contains(where: \.hasBegun)
        else { return nil }
        return state.path
    }

    /// Targets were evaluated; says who is to be notified.
    ///
    /// - Parameter origin: What led to it.
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
        // In place: a copy of the state would copy its subscribers.
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
    /// Takes a new path as a change where it is one, and returns it with its generation.
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

    /// The path for the subscribers; nil if they have received it already, and none of them holds a change back.
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
