import Dispatch
package import LinuxSupport

/// The addresses of one host name, kept up to date while somebody watches.
package final class NameRecord: Sendable {
    /// A question to be asked later. The number tells it from those it took the place of.
    private struct Plan {
        let number: UInt64
        let occasion: NameState.Occasion
    }

    private struct State {
        var name = NameState()
        /// Of whom the last question was asked; nil where that is not known.
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

    /// Begins to renew the answer by itself.
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
