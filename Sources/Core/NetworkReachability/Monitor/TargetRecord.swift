import LinuxPrimitives

/// One distinct target of a monitor: shared by all managers and subscriptions that mean the same, forgotten with the last.
package final class TargetRecord: Sendable {
    /// In an order without gaps, for there may be very many of them.
    private struct State {
        var path = SharedValue(NetworkPath())
        /// The generation of the path that subscriptions were offered last.
        var offered: UInt64 = 0
        /// Most targets have one.
        var firstSubscription: Subscription?
        var furtherSubscriptions: [Subscription] = []
        /// Waits for the end of flapping while somebody listens.
        var flappingEnd: Cancellation?
        var flaps = FlapCounter()
        /// Whether everybody is to be offered a path although it is no news: somebody has just begun, or counts looks.
        var hasNew = false
        var countsLooks = false
        /// Whether it is in line to be looked at.
        var isInLine = false
        /// How many managers and subscriptions there are that mean this target.
        var uses: Int32 = 0
    }

    package let target: Target
    /// Whoever holds a target holds its monitor.
    let monitor: PathMonitor
    let name: NameRecord?
    private let state: Locked<State> = Locked(State())

    init(target: Target, monitor: PathMonitor, name: NameRecord?) {
        self.target = target
        self.monitor = monitor
        self.name = name
    }

    deinit {
        name?.unwatch()
    }

    /// Under the lock of the monitor's table, as `release()`.
    func claim() {
        state.withLock { $0.uses += 1 }
    }

    /// - Returns: Whether nobody uses it any more.
    func release() -> Bool {
        state.withLock { state in
            state.uses -= 1
            return state.uses == 0
        }
    }

    /// Counts a new path as a change where it is one, and says it with its generation. Runs in the order of evaluation.
    func noted(_ evaluation: Evaluation) -> Evaluation {
        var evaluation = evaluation
        state.withLock { state in
            let known = state.path.value
            if evaluation.leavesIPv6Open, known.supportsIPv6 { evaluation.path.supportsIPv6 = true }
            if state.flaps.isFlapping { state.flaps.forget(at: monitor.surroundings.clock.monotonic) }
            evaluation.path.isFlapping = state.flaps.isFlapping
            evaluation.path.generation = known.generation
            if known.generation > 0, evaluation.path == known { return }
            evaluation.path.generation += 1
            state.path = SharedValue(evaluation.path)
        }
        return evaluation
    }
}

extension TargetRecord {
    /// What to ask about a target that is an address; nil for others.
    var inquiry: Inquiry? {
        guard case .address(let address) = target.destination else { return nil }
        return Inquiry(address, mark: target.mark, interface: target.interface)
    }

    /// The path of the last look, where nobody is to hear of another look at the same.
    var settledPath: SharedValue<NetworkPath>? {
        state.withLock { state in
            let isSettled = !state.hasNew && !state.countsLooks && !state.flaps.isFlapping
            return isSettled && state.offered == state.path.value.generation ? state.path : nil
        }
    }

    /// Says whether it was not in line to be looked at yet.
    func putInLine() -> Bool {
        state.withLock { state in
            defer { state.isInLine = true }
            return !state.isInLine
        }
    }

    func leaveLine() {
        state.withLock { $0.isInLine = false }
    }

    /// A path to be told, the same object for everybody if it is the latest.
    func shared(_ path: NetworkPath) -> SharedValue<NetworkPath> {
        let latest = state.withLock { $0.path }
        return latest.value.generation == path.generation ? latest : SharedValue(path)
    }
}

// MARK: - Those who listen

extension TargetRecord {
    var subscriptions: [Subscription] {
        let (first, further) = state.withLock { ($0.firstSubscription, $0.furtherSubscriptions) }
        return first.map { [$0] + further } ?? []
    }

    /// Counts a status that is about to be told, and says whether the target flaps, and whether someone waits for the end of
    /// that. Runs on the monitor's queue.
    func count(_ status: NetworkReachabilityStatus) -> (isFlapping: Bool, awaitsEnd: Bool) {
        let clock = monitor.surroundings.clock
        return state.withLock { state in
            state.flaps.take(status, at: clock.monotonic)
            return (state.flaps.isFlapping, state.flappingEnd != nil)
        }
    }

    /// How often the status changed lately.
    var flapCount: Int {
        let now = monitor.surroundings.clock.monotonic
        return state.withLock { state in
            state.flaps.forget(at: now)
            return state.flaps.count
        }
    }

    /// When flapping ends if nothing changes any more; nil when there is none.
    var flappingEnd: Duration? { state.withLock { $0.flaps.end } }

    /// Keeps what waits for the end of flapping, in place of what did so before.
    func waitForFlappingEnd(_ timer: Cancellation?) {
        let previous = state.withLock { state in
            defer { state.flappingEnd = timer }
            return state.flappingEnd
        }
        previous?.cancel()
    }

    var isWatched: Bool { state.withLock { $0.firstSubscription != nil } }

    /// Whether somebody wants to know everything of a path, at once.
    var wantsEverything: Bool {
        state.withLock { state in
            state.firstSubscription?.wantsEverything ?? false
                || state.furtherSubscriptions.contains(where: \.wantsEverything)
        }
    }

    func add(_ subscription: Subscription) {
        state.withLock { state in
            if state.firstSubscription == nil {
                state.firstSubscription = subscription
            } else {
                state.furtherSubscriptions.append(subscription)
            }
            state.hasNew = true
            if !subscription.isImmediate { state.countsLooks = true }
        }
        monitor.watch(self)
        // Ended by another thread before it was added: nobody else will take it away.
        if subscription.hasEnded { remove(subscription) }
    }

    func remove(_ subscription: Subscription) {
        let (wasThere, isLast) = state.withLock { state in
            let count = state.furtherSubscriptions.count
            state.furtherSubscriptions.removeAll { $0 === subscription }
            let wasFirst = state.firstSubscription === subscription
            if wasFirst {
                state.firstSubscription =
                    state.furtherSubscriptions.isEmpty ? nil : state.furtherSubscriptions.removeFirst()
            }
            let isLast = state.firstSubscription == nil
            if isLast { state.countsLooks = false }
            return (wasFirst || state.furtherSubscriptions.count < count, isLast)
        }
        if wasThere, isLast { monitor.unwatch(self) }
    }

    /// Whether somebody would hear that reachability is lost.
    func wouldLose(by path: NetworkPath) -> Bool {
        guard !path.status.isReachable else { return false }
        let isNews = state.withLock { $0.offered != path.generation }
        return isNews && subscriptions.contains { $0.wouldLose(by: path) }
    }

    /// Those to offer a path to; nil if all of them have been offered it already. Runs on the monitor's queue.
    func listeners(of path: NetworkPath) -> [Subscription]? {
        let isNews = state.withLock { state in
            defer { (state.offered, state.hasNew) = (path.generation, false) }
            return state.offered != path.generation || state.hasNew || state.countsLooks
        }
        guard isNews else { return nil }
        let all = subscriptions
        let begun = all.filter(\.hasBegun)
        // Who has not begun will be offered what is so then.
        if begun.count < all.count { state.withLock { $0.hasNew = true } }
        return begun
    }
}
