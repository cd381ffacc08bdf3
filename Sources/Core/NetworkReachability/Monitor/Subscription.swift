import LinuxPrimitives
import Netlink

/// Somebody who wants to hear of a target's changes. The target's record holds it until it is ended.
package final class Subscription: Sendable {
    /// Delivers a path, with the time its notification was noticed if there was one; runs on the monitor's queue, in the order
    /// of evaluation. Calls listeners through `call(since:)`.
    typealias Delivery = @Sendable (SharedValue<NetworkPath>, Subscription, _ noticed: Duration?) -> Void

    private struct State {
        /// Let go of at the end: a listener may well hold what holds this.
        var deliver: Delivery?
        var told: SharedValue<NetworkPath>? { didSet { previous = oldValue } }
        /// What was told before that.
        var previous: SharedValue<NetworkPath>?
        var hasBegun = false
        var hasEnded = false
        /// Nil where nothing is held back.
        var holding: Holding?
    }

    /// What a policy that holds changes back needs. Apart from the rest because most have none, and there may be many.
    private final class Holding {
        var settling: Settling
        var look = Look()

        init(_ settling: Settling) {
            self.settling = settling
        }
    }

    /// The look that a change held back waits for. The number tells it from those it took the place of.
    private struct Look {
        var number: UInt64 = 0
        var timer: Cancellation?
        var isDue = false
    }

    let record: TargetRecord
    private let interest: NetworkReachabilityInterest
    /// Whether nothing is ever held back.
    let isImmediate: Bool
    private let state: Locked<State>

    init(
        to record: TargetRecord,
        interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy,
        deliver: @escaping Delivery
    ) {
        self.record = record
        self.interest = interest
        isImmediate = policy.isImmediate
        record.monitor.claim(record)
        let holding = policy.isImmediate ? nil : Holding(Settling(policy, interest))
        state = Locked(State(deliver: deliver, holding: holding))
    }

    deinit {
        record.monitor.release(record)
    }

    /// Whether everything of a path matters, at once.
    var wantsEverything: Bool { interest.contains(.path) }

    /// Whether nothing more may be told. A delivery asks right before it calls.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Tells nothing more; idempotent, never waits, may be called from inside a delivery.
    package func end() {
        let (wasFirst, deliver, timer): (Bool, Delivery?, Cancellation?) = state.withLock { state in
            defer {
                state.hasEnded = true
                state.deliver = nil
                state.holding?.look.timer = nil
            }
            return (!state.hasEnded, state.deliver, state.holding?.look.timer)
        }
        timer?.cancel()
        if wasFirst { record.remove(self) }
        // What the listener holds dies here, outside the lock.
        withExtendedLifetime(deliver) {}
    }

    /// From now on paths count; those of evaluations under way are older than the listener. Runs on the monitor's queue.
    func begin() {
        state.withLock { $0.hasBegun = true }
    }

    /// What was told before what is being told.
    var previous: SharedValue<NetworkPath>? { state.withLock { $0.previous } }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Takes the path of the latest evaluation, and delivers it if it is news. Runs on the monitor's queue.
    func offer(_ path: SharedValue<NetworkPath>, since noticed: Duration? = nil) {
        guard isImmediate else { return settle(path) }
        let deliver: Delivery? = state.withLock { state in
            guard state.hasBegun, !state.hasEnded else { return nil }
            if let told = state.told, !interest.isNews(path.value, after: told.value) { return nil }
            state.told = path
            return state.deliver
        }
        deliver?(path, self, noticed)
    }

    /// Whether `path` would take reachability away from what was told last, or will be.
    func wouldLose(by path: NetworkPath) -> Bool {
        let isReachable = state.withLock { state in
            if let pending = state.holding?.settling.pending { return pending.status.isReachable }
            return state.told?.value.status.isReachable ?? false
        }
        return isReachable && !path.status.isReachable
    }
}

// MARK: - Holding back what may not last

extension Subscription {
    /// What is to be done outside the lock.
    private struct Actions {
        var deliver: Delivery?
        var step = Settling.Step()
        var number: UInt64 = 0
        var previousTimer: Cancellation?
    }

    private func settle(_ path: SharedValue<NetworkPath>) {
        let actions = state.withLock { state in
            guard state.hasBegun, !state.hasEnded, let holding = state.holding else { return Actions() }
            guard let told = state.told else {
                state.told = path
                return Actions(deliver: state.deliver, step: Settling.Step(telling: path.value))
            }
            let isDue = holding.look.isDue
            holding.look.isDue = false
            let step = holding.settling.take(path.value, after: told.value, isDue: isDue)
            var actions = Actions(deliver: state.deliver, step: step)
            if let news = step.telling { state.told = SharedValue(news) }
            if step.wait != .goesOn {
                holding.look.number += 1
                actions.number = holding.look.number
                actions.previousTimer = holding.look.timer
                holding.look.timer = nil
            }
            return actions
        }
        actions.previousTimer?.cancel()
        if let news = actions.step.telling { actions.deliver?(SharedValue(news), self, nil) }
        if case .begins(let pause) = actions.step.wait { scheduleLook(actions.number, after: pause) }
    }

    private func scheduleLook(_ number: UInt64, after pause: Duration) {
        let monitor = record.monitor
        let timer = monitor.surroundings.clock.schedule(after: pause, on: monitor.queue) { [weak self] in
            self?.lookIsDue(number)
        }
        let isWanted = state.withLock { state in
            // The end may come at any time.
            guard !state.hasEnded, let holding = state.holding, holding.look.number == number else { return false }
            holding.look.timer = timer
            return true
        }
        if !isWanted { timer.cancel() }
    }

    /// What is told when the time is up must be so then: messages can be late, and the machine may have slept.
    private func lookIsDue(_ number: UInt64) {
        let (isWanted, timer): (Bool, Cancellation?) = state.withLock { state in
            guard !state.hasEnded, let holding = state.holding, holding.look.number == number else {
                return (false, nil)
            }
            holding.look.isDue = true
            defer { holding.look.timer = nil }
            return (true, holding.look.timer)
        }
        timer?.cancel()
        if isWanted { record.monitor.look(at: [record], after: EventBurst()) }
    }
}
