import Dispatch
package import LinuxSupport

/// The addresses of a host name. They are renewed while the name is watched.
package final class NameRecord: Sendable {
    /// A scheduled query. The number distinguishes it from replaced ones.
    private struct Plan {
        let number: UInt64
        let reason: NameState.QueryReason
    }

    private struct State {
        var name = NameState()
        /// The servers of the last query; nil if they are not known.
        var servers: [IPAddress]?
        var isPrepared = false
        /// A Boolean value that indicates whether the local addresses include both families. The name service then
        /// decides which of them a connection uses (RFC 6724).
        var hasChoice = false
        var plan: Plan?
        var plans: UInt64 = 0
        var timer: Cancellation?
        var isWatched = false
    }

    private let name: String
    private let interval: Duration
    private let environment: MonitorEnvironment
    private let queue: DispatchQueue
    private let state: Locked<State> = Locked(State())
    private let first = Latch()
    /// Called on `queue` when the addresses have changed.
    private let changed: @Sendable () -> Void

    init(
        name: String,
        interval: Duration,
        environment: MonitorEnvironment,
        queue: DispatchQueue,
        changed: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.interval = interval
        self.environment = environment
        self.queue = queue
        self.changed = changed
    }

    package var answer: NameState.Answer { state.withLock { $0.name.answer } }

    /// The reason why there is no address, as last reported by the name service.
    package var failure: NameLookup.Failure? { state.withLock { $0.name.failure } }

    /// The name servers that were queried and have not answered. Nil if there is an answer, or if the queried servers
    /// are not known.
    var missingServers: [IPAddress]? {
        state.withLock { state in
            switch state.name.answer {
            case .addresses: nil
            case .failed where state.name.failure?.isDenial == true: nil
            case .failed, .pending: state.servers
            }
        }
    }

    /// Ensures that a query was sent. Waits up to `limit` if no address is known, or if it is not known which of the
    /// local addresses comes first. If the name is not watched, an old answer is used, and a new query is sent for
    /// later calls.
    package func prepare(waitingAtMost limit: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isPrepared = true }
            return !state.isPrepared
        }
        if isFirst {
            let known = environment.resolver.localAddresses(of: name).map { IPAddress($0) }
            state.withLock { state in
                state.name.setLocal(known)
                state.hasChoice = known.contains(where: \.isIPv6) && !known.allSatisfy(\.isIPv6)
            }
        }
        let now = environment.clock.boot
        let isDue = state.withLock { $0.name.delay(from: now, interval: interval) == .zero && !$0.isWatched }
        if isFirst || isDue { query(because: .age) }
        guard limit > .zero, answer == .pending || state.withLock({ $0.hasChoice }) else { return }
        _ = first.wait(atMost: limit)
    }

    /// Starts to renew the answer automatically.
    func watch() {
        state.withLock { $0.isWatched = true }
        prepare(waitingAtMost: .zero)
        scheduleNext()
    }

    func unwatch() {
        let timer = state.withLock { state in
            state.isWatched = false
            state.plan = nil
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    /// Schedules a query, because the network or the configuration of the name service has changed.
    func networkChanged() {
        let now = environment.clock.boot
        schedule(.change, after: state.withLock { $0.name.delayAfterChange(from: now) })
    }

    private func query(because reason: NameState.QueryReason) {
        let now = environment.clock.boot
        let servers = environment.resolver.configuration?.servers(for: name)
        let (question, isElsewhere) = state.withLock { state in
            let question = state.name.query(because: reason, at: now)
            if question == nil { return (question, false) }
            defer { state.servers = servers }
            return (question, state.servers != nil && state.servers != servers)
        }
        guard let question else { return }
        // Packets to other servers may take another path.
        if isElsewhere { environment.clock.enqueue(on: queue, changed) }
        environment.resolver.resolve(name) { [weak self] result in
            self?.take(result.map { addresses in addresses.map { IPAddress($0) } }, of: question)
        }
    }

    private func take(_ result: Result<[IPAddress], NameLookup.Failure>, of question: UInt64) {
        let (isChange, queriesAgain) = state.withLock { $0.name.take(result, of: question) }
        first.open()
        if isChange { environment.clock.enqueue(on: queue, changed) }
        if queriesAgain { networkChanged() } else { scheduleNext() }
    }

    private func scheduleNext() {
        let now = environment.clock.boot
        schedule(.age, after: state.withLock { $0.name.delay(from: now, interval: interval) })
    }

    /// Schedules a query in place of the planned one. A query that is planned because of a change is not postponed.
    private func schedule(_ reason: NameState.QueryReason, after delay: Duration) {
        let (number, previous): (UInt64?, Cancellation?) = state.withLock { state in
            guard state.isWatched, state.plan?.reason != .change else { return (nil, nil) }
            state.plans += 1
            state.plan = Plan(number: state.plans, reason: reason)
            defer { state.timer = nil }
            return (state.plans, state.timer)
        }
        guard let number else { return }
        previous?.cancel()
        let timer = environment.clock.schedule(after: delay, on: queue) { [weak self] in self?.timerFired(number) }
        let isCurrent = state.withLock { state in
            // The timer may already have fired on another thread, or another plan may have replaced this one.
            guard state.plan?.number == number else { return false }
            state.timer = timer
            return true
        }
        if !isCurrent { timer.cancel() }
    }

    private func timerFired(_ number: UInt64) {
        let (timer, reason): (Cancellation?, NameState.QueryReason?) = state.withLock { state in
            guard let plan = state.plan, plan.number == number else { return (nil, nil) }
            state.plan = nil
            defer { state.timer = nil }
            return (state.timer, plan.reason)
        }
        timer?.cancel()
        if let reason { query(because: reason) }
    }
}

/// The known addresses of a host name, and the time of the next query. Pure; it sends no query.
package struct NameState: Sendable {
    package enum Answer: Hashable, Sendable {
        /// The name service has not answered yet.
        case pending
        case addresses([IPAddress])
        /// The name does not exist, or the query failed before any address was known.
        case failed
    }

    /// The reason for a query.
    enum QueryReason: Hashable, Sendable {
        /// No address is known, or the known ones are old.
        case age
        /// The network has changed. A query in progress may have been lost in the old network.
        case change
    }

    /// The minimum time between two queries, independent of the number of network changes.
    static let spacing = Duration.seconds(1)
    private static let longestBackoff = Duration.seconds(60)
    /// The maximum number of queries in progress. A query sent before a network change may take long to fail, so a
    /// second one is permitted.
    private static let questionLimit = 2

    private(set) var answer = Answer.pending
    /// The reason why there is no address; nil if there is one or no result is known yet.
    private(set) var failure: NameLookup.Failure?
    private var asked: UInt64 = 0
    private var answered: UInt64 = 0
    private var questionsUnderWay = 0
    private var missedChange = false
    private var failures = 0
    private var lastAsked: Duration?

    /// Sets the addresses that are known locally. They are used until the name service answers.
    mutating func setLocal(_ addresses: [IPAddress]) {
        if answer == .pending, !addresses.isEmpty { answer = .addresses(addresses) }
    }

    /// Starts a query. Returns its number, or nil if no query is to be sent now.
    mutating func query(because reason: QueryReason, at now: Duration) -> UInt64? {
        guard questionsUnderWay < (reason == .change ? Self.questionLimit : 1) else {
            missedChange = missedChange || reason == .change
            return nil
        }
        questionsUnderWay += 1
        asked += 1
        lastAsked = now
        return asked
    }

    /// Processes the answer to a query. The answer to a later query takes precedence. The failure of an earlier query
    /// is ignored if a later query is in progress. If the name service becomes unreachable, its previous answer stays
    /// valid, because packets to those addresses are still meaningful.
    ///
    /// - Returns: `isChange` is true if the known addresses have changed. `queriesAgain` is true if another query is
    ///   needed because of a network change in the meantime.
    mutating func take(
        _ result: Result<[IPAddress], NameLookup.Failure>,
        of question: UInt64
    ) -> (isChange: Bool, queriesAgain: Bool) {
        questionsUnderWay -= 1
        let before = answer
        let addresses = (try? result.get()) ?? []
        if question > answered, !addresses.isEmpty || question == asked {
            answered = question
            failures = addresses.isEmpty ? failures + 1 : 0
            answer = Self.answer(addresses, result, before: before)
            if answer == .failed, case .failure(let cause) = result { failure = cause } else { failure = nil }
        }
        defer { missedChange = false }
        return (answer != before, missedChange)
    }

    private static func answer(
        _ addresses: [IPAddress],
        _ result: Result<[IPAddress], NameLookup.Failure>,
        before: Answer
    ) -> Answer {
        if !addresses.isEmpty { return .addresses(addresses) }
        if case .failure(.unavailable) = result, case .addresses = before { return before }
        return .failed
    }

    /// Returns the time from `now` to the next query if nothing changes: the interval, or 1, 2, 4 ... 60 s after
    /// failures.
    func delay(from now: Duration, interval: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        let wait = failures == 0 ? interval : min(Self.longestBackoff, .seconds(1 << min(failures - 1, 6)))
        return max(.zero, lastAsked + wait - now)
    }

    /// Returns the time from `now` to the next query after a change of the network.
    func delayAfterChange(from now: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        return max(.zero, lastAsked + Self.spacing - now)
    }
}
