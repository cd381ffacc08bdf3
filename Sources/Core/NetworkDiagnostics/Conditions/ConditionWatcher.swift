import LinuxSupport
import Netlink
package import NetworkReachability

/// Waits until all or any of several conditions hold for a given time.
///
/// Conditions are evaluated only after possible changes. The exception is a name that does not resolve. It is queried
/// again periodically, because the name service does not report when it can resolve a name.
///
/// Thread-safe. The watcher ends when it is cancelled, released, or has called `done`.
package final class ConditionWatcher: Sendable {
    private struct State {
        var states: [NetworkCondition.State]
        /// The timer that runs while the conditions hold.
        var timer: Cancellation?
        var hasEnded = false
    }

    private let inspector: NetworkInspector
    private let needsAll: Bool
    private let stability: Duration
    /// The records of the conditions on targets and names, by position.
    private let records: [Int: TargetRecord]
    private let state: Locked<State>
    private let watches: Locked<[Cancellation]> = Locked([])
    private let changed: @Sendable ([NetworkCondition.State]) -> Void
    private let done: @Sendable ([NetworkCondition.State]) -> Void

    /// Creates a watcher.
    ///
    /// - Parameters:
    ///   - needsAll: True if all conditions must hold; false if one is sufficient.
    ///   - stability: The time for which the conditions must hold without interruption.
    ///   - changed: Called on the monitor's queue with all conditions, in their order, whenever one of them changes.
    ///   - done: Called once on the monitor's queue when the conditions have held for the time.
    /// - Throws: ``NetworkReachabilityError`` if a text is not a host.
    package init(
        _ conditions: [NetworkCondition],
        inspector: NetworkInspector,
        needsAll: Bool = true,
        stability: Duration = .zero,
        changed: @escaping @Sendable ([NetworkCondition.State]) -> Void = { _ in },
        done: @escaping @Sendable ([NetworkCondition.State]) -> Void
    ) throws(NetworkReachabilityError) {
        self.inspector = inspector
        self.needsAll = needsAll
        self.stability = stability
        self.changed = changed
        self.done = done
        state = Locked(State(states: conditions.map { NetworkCondition.State($0) }))
        var targets: [Int: Target] = [:]
        for (index, condition) in conditions.enumerated() { targets[index] = try condition.target(inspector.options) }
        records = targets.mapValues(inspector.monitor.record)
    }

    deinit {
        cancel()
    }

    /// Starts the watcher. Before that, no query is sent.
    package func start() {
        var begun = records.map { index, record in
            let subscription = Subscription(to: record, interest: .path, settle: .immediate) { [weak self] change, _ in
                self?.note(change.path, at: index)
            }
            subscription.begin()
            return Cancellation { subscription.end() }
        }
        let others = state.withLock { $0.states.map(\.condition) }.filter { !$0.isTarget }
        if !others.isEmpty {
            let samples = others.flatMap { condition -> [IPAddress] in
                if case .route(let prefix) = condition { prefix.samples } else { [] }
            }
            begun.append(inspector.observe(routesTo: samples) { [weak self] in self?.evaluateOthers() })
        }
        watches.withLock { $0 += begun }
        // The watcher may already have ended.
        if state.withLock({ $0.hasEnded }) { endWatches() }
    }

    /// Ends the watcher. Returns false if it had already ended.
    @discardableResult
    package func cancel() -> Bool {
        let timer: Cancellation?? = state.withLock { state in
            if state.hasEnded { return nil }
            state.hasEnded = true
            return .some(state.timer)
        }
        timer??.cancel()
        endWatches()
        return timer != nil
    }

    private func endWatches() {
        let watches = watches.withLock { watches in
            defer { watches = [] }
            return watches
        }
        for watch in watches { watch.cancel() }
    }

    /// Evaluates all conditions now, on the calling thread, without regard to `stability`.
    package func evaluateAll() -> (states: [NetworkCondition.State], holds: Bool) {
        let states = state.withLock { $0.states }.enumerated().map { index, state in
            guard let record = records[index] else { return evaluate(state.condition) }
            return .init(state.condition, inspector.monitor.path(to: record, waitingForName: .zero))
        }
        return (states, holds(states))
    }
}

extension ConditionWatcher {
    private func note(_ path: NetworkPath, at index: Int) {
        update { $0[index] = .init($0[index].condition, path) }
    }

    private func evaluateOthers() {
        let conditions = state.withLock { $0.states.map(\.condition) }
        let found = conditions.enumerated().filter { !$1.isTarget }.map { ($0, evaluate($1)) }
        update { states in
            for (index, state) in found { states[index] = state }
        }
    }

    private func evaluate(_ condition: NetworkCondition) -> NetworkCondition.State {
        switch condition {
        case .route(let prefix): .init(condition, obstacle: inspector.obstacle(ofRouteTo: prefix))
        case .interface(let name): .init(condition, obstacle: inspector.obstacle(ofInterface: name))
        case .target, .name: .init(condition)
        }
    }

    private func holds(_ states: [NetworkCondition.State]) -> Bool {
        needsAll ? states.allSatisfy(\.holds) : states.contains(where: \.holds)
    }

    /// Stores new states and reports changes. Runs on the monitor's queue.
    private func update(_ change: (inout [NetworkCondition.State]) -> Void) {
        let (changes, all, isWaiting): ([NetworkCondition.State]?, [NetworkCondition.State], Bool) = state.withLock {
            state in
            if state.hasEnded { return (nil, [], false) }
            let before = state.states
            change(&state.states)
            return (before == state.states ? nil : state.states, state.states, state.timer != nil)
        }
        if let changes { changed(changes) }
        if all.isEmpty { return }
        if !holds(all) {
            stopWaiting()
        } else if stability <= .zero {
            finish(all)
        } else if !isWaiting {
            let clock = inspector.monitor.environment.clock
            let timer = clock.schedule(after: stability, on: inspector.monitor.queue) { [weak self] in self?.timeIsUp()
            }
            state.withLock { $0.timer = timer }
        }
    }

    private func stopWaiting() {
        let timer = state.withLock { state in
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    /// Finishes if the conditions still hold. They are evaluated again, because events can be late.
    private func timeIsUp() {
        stopWaiting()
        let (states, holds) = evaluateAll()
        if holds { finish(states) } else { update { $0 = states } }
    }

    private func finish(_ states: [NetworkCondition.State]) {
        if cancel() { done(states) }
    }
}

extension NetworkCondition {
    fileprivate var isTarget: Bool {
        switch self {
        case .target, .name: true
        case .route, .interface: false
        }
    }

    /// Returns the watched target of the condition; nil for routes and interfaces.
    fileprivate func target(_ options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> Target? {
        switch self {
        case .target(nil, _): return try Target(options: options)
        case .target(let host?, _): return try Target(host: host, options: options)
        case .name(let name):
            guard IPAddress(name) == nil else { throw .invalidHost(name) }
            return try Target(host: name, options: options)
        case .route, .interface: return nil
        }
    }
}

extension NetworkInspector {
    /// Returns the reason why no route carries packets to the whole prefix; nil if a route does. One route must cover
    /// the prefix. Narrower routes to parts of it are ignored.
    func obstacle(ofRouteTo prefix: IPPrefix) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            return try monitor.answering { evaluator throws(MissingAnswers) in
                try evaluator.obstacle(ofRouteTo: prefix, mark: options.firewallMark)
            }
        } catch {
            return .init(error)
        }
    }

    /// Returns the reason why an interface is not usable; nil if it is. A usable interface is up, has carrier, and has
    /// an address that is not tentative, not a duplicate, and valid beyond the link.
    func obstacle(ofInterface name: String) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            return try monitor.answering { evaluator throws(MissingAnswers) in
                guard let link = try evaluator.answers.answer(to: .linkNamed(name)).link else { return .noInterface }
                if let obstacle = link.obstacle { return obstacle.reason }
                let hasAddress = try evaluator.answers.addresses().contains { address in
                    address.interface == link.index && address.isUsable && !address.isLinkLocal
                }
                return hasAddress ? nil : .noSourceAddress
            }
        } catch {
            return .init(error)
        }
    }
}

extension PathEvaluator {
    fileprivate mutating func obstacle(
        ofRouteTo prefix: IPPrefix,
        mark: UInt32
    ) throws(MissingAnswers) -> NetworkPath.UnsatisfiedReason? {
        let samples = prefix.samples
        let verdicts = try verdicts(on: samples.map { AddressCheck($0, PathConstraints(mark: mark)) })
        var entries: [Route?] = []
        try MissingAnswers.forEach(samples) { sample throws(MissingAnswers) in
            entries.append(try answers.entry(RouteQuery(destination: sample.wire, mark: mark)))
        }
        var obstacle: NetworkPath.UnsatisfiedReason?
        for (verdict, entry) in zip(verdicts, entries) {
            guard let entry, Int(entry.prefixLength) <= prefix.wire.length else { continue }
            guard case .failure(let found) = verdict.outcome else { return nil }
            obstacle = obstacle ?? found.reason
        }
        if let obstacle { return obstacle }
        // The first sample is an ordinary address, so its result represents the prefix.
        guard entries.first == .some(nil), case .failure(let found)? = verdicts.first?.outcome else { return .noRoute }
        return found.reason
    }
}
