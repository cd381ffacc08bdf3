import Dispatch
package import LinuxSupport

/// The addresses of a host name, which are renewed while the name is watched.
package final class NameRecord: Sendable {
    /// A scheduled query. The number distinguishes it from those that it replaced.
    private struct Plan {
        let number: UInt64
        let occasion: NameState.Occasion
    }

    private struct State {
        var name = NameState()
        /// The servers of the last query; nil if they are not known.
        var servers: [IPAddress]?
        var isPrepared = false
        /// This machine knows addresses of both families by itself: which of them connections would take is for the name
        /// service to say (RFC 6724).
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
    /// Runs on `queue` when the addresses changed.
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

    /// Why there is no address, as the name service said it last.
    package var failure: NameLookup.Failure? { state.withLock { $0.name.failure } }

    /// The servers that stand between the name and its addresses: those that were asked for it, and have not answered. Nil
    /// once there is an answer, and where it is not known who was asked.
    var missingServers: [IPAddress]? {
        state.withLock { state in
            switch state.name.answer {
            case .addresses: nil
            case .failed where state.name.failure?.isDenial == true: nil
            case .failed, .pending: state.servers
            }
        }
    }

    /// Makes sure that somebody has been asked, and waits up to `limit` while nothing at all is known, or which of the known
    /// addresses comes first. Without a watcher
    /// an old answer is good for this question and renewed for the next.
    package func prepare(waitingAtMost limit: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isPrepared = true }
            return !state.isPrepared
        }
        if isFirst {
            let known = environment.resolver.localAddresses(of: name).map { IPAddress($0) }
            state.withLock { state in
                state.name.know(known)
                state.hasChoice = known.contains(where: \.isIPv6) && !known.allSatisfy(\.isIPv6)
            }
        }
        let now = environment.clock.boot
        let isDue = state.withLock { $0.name.delay(from: now, interval: interval) == .zero && !$0.isWatched }
        if isFirst || isDue { ask(because: .age) }
        guard limit > .zero, answer == .pending || state.withLock({ $0.hasChoice }) else { return }
        _ = first.wait(atMost: limit)
    }

    /// Begins to renew the answer automatically.
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

    /// The network or the name service's configuration changed, so the answer may have too.
    func networkChanged() {
        let now = environment.clock.boot
        schedule(.change, after: state.withLock { $0.name.delayAfterChange(from: now) })
    }

    private func ask(because occasion: NameState.Occasion) {
        let now = environment.clock.boot
        let servers = environment.resolver.configuration?.servers(for: name)
        let (question, isElsewhere) = state.withLock { state in
            let question = state.name.ask(because: occasion, at: now)
            if question == nil { return (question, false) }
            defer { state.servers = servers }
            return (question, state.servers != nil && state.servers != servers)
        }
        guard let question else { return }
        // Packets to other servers may leave otherwise.
        if isElsewhere { environment.clock.soon(on: queue, changed) }
        environment.resolver.resolve(name) { [weak self] result in
            self?.take(result.map { addresses in addresses.map { IPAddress($0) } }, of: question)
        }
    }

    private func take(_ result: Result<[IPAddress], NameLookup.Failure>, of question: UInt64) {
        let (isChange, asksAgain) = state.withLock { $0.name.take(result, of: question) }
        first.open()
        if isChange { environment.clock.soon(on: queue, changed) }
        if asksAgain { networkChanged() } else { scheduleNext() }
    }

    private func scheduleNext() {
        let now = environment.clock.boot
        schedule(.age, after: state.withLock { $0.name.delay(from: now, interval: interval) })
    }

    /// Asks later, instead of whatever was to be asked before. A change that is waited for is not put off.
    private func schedule(_ occasion: NameState.Occasion, after delay: Duration) {
        let (number, previous): (UInt64?, Cancellation?) = state.withLock { state in
            guard state.isWatched, state.plan?.occasion != .change else { return (nil, nil) }
            state.plans += 1
            state.plan = Plan(number: state.plans, occasion: occasion)
            defer { state.timer = nil }
            return (state.plans, state.timer)
        }
        guard let number else { return }
        previous?.cancel()
        let timer = environment.clock.schedule(after: delay, on: queue) { [weak self] in self?.timerFired(number) }
        let isCurrent = state.withLock { state in
            // It may have fired already, on another thread than this, or another plan may have taken its place.
            guard state.plan?.number == number else { return false }
            state.timer = timer
            return true
        }
        if !isCurrent { timer.cancel() }
    }

    private func timerFired(_ number: UInt64) {
        let (timer, occasion): (Cancellation?, NameState.Occasion?) = state.withLock { state in
            guard let plan = state.plan, plan.number == number else { return (nil, nil) }
            state.plan = nil
            defer { state.timer = nil }
            return (state.timer, plan.occasion)
        }
        timer?.cancel()
        if let occasion { ask(because: occasion) }
    }
}

/// The known addresses of a host name, and the time of the next query. Pure: it performs no query.
package struct NameState: Sendable {
    package enum Answer: Hashable, Sendable {
        /// The name service has not answered yet.
        case pending
        case addresses([IPAddress])
        /// The name does not exist, or could not be asked about before anything was known of it.
        case failed
    }

    /// Why the name service is asked.
    enum Occasion: Hashable, Sendable {
        /// Nothing is known yet, or what is known has become old.
        case age
        /// The network changed: a question that is under way may be lost in the old one.
        case change
    }

    /// Between two questions at least this long, however much the network changes.
    static let spacing = Duration.seconds(1)
    private static let longestBackoff = Duration.seconds(60)
    /// A question that went out before the network changed may take its time to fail; one more may be asked beside it.
    private static let questionLimit = 2

    private(set) var answer = Answer.pending
    /// Why there is no address; nil while there is one, or nothing is known yet.
    private(set) var failure: NameLookup.Failure?
    private var asked: UInt64 = 0
    private var answered: UInt64 = 0
    private var questionsUnderWay = 0
    private var missedChange = false
    private var failures = 0
    private var lastAsked: Duration?

    /// The machine's own knowledge of a name counts until the name service answers.
    mutating func know(_ addresses: [IPAddress]) {
        if answer == .pending, !addresses.isEmpty { answer = .addresses(addresses) }
    }

    /// The number of the question to ask now; nil when none is to be asked.
    mutating func ask(because occasion: Occasion, at now: Duration) -> UInt64? {
        guard questionsUnderWay < (occasion == .change ? Self.questionLimit : 1) else {
            missedChange = missedChange || occasion == .change
            return nil
        }
        questionsUnderWay += 1
        asked += 1
        lastAsked = now
        return asked
    }

    /// Takes the answer to a question. The answer to a later question counts more, and so does a later question that has not
    /// been answered yet than the failure of an earlier one. A name service out of reach does not undo what it said before:
    /// packets to those addresses are still meaningful.
    ///
    /// - Returns: Whether what is known changed, and whether to ask again because of a change in the meantime.
    mutating func take(
        _ result: Result<[IPAddress], NameLookup.Failure>,
        of question: UInt64
    ) -> (isChange: Bool, asksAgain: Bool) {
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

    /// How long to wait from `now` until asking again, if nothing changes: the interval, or 1, 2, 4 ... 60 s after failures.
    func delay(from now: Duration, interval: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        let wait = failures == 0 ? interval : min(Self.longestBackoff, .seconds(1 << min(failures - 1, 6)))
        return max(.zero, lastAsked + wait - now)
    }

    /// How long to wait from `now` until asking again after a change of the network.
    func delayAfterChange(from now: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        return max(.zero, lastAsked + Self.spacing - now)
    }
}
