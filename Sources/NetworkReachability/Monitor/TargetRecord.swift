import Netlink

/// One distinct target of a monitor: shared by all managers and subscriptions that mean the same, gone with the last.
package final class TargetRecord: Sendable {
    private struct Weak {
        weak let subscription: Subscription?
    }

    private struct State {
        var path = NetworkPath()
        var subscriptions: [ObjectIdentifier: Weak] = [:]
        var flaps = FlapCounter()
        /// Waits for the end of flapping while somebody listens.
        var flappingEnd: Cancellation?
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
        monitor.forget(target)
    }

    /// Counts a new path as a change where it is one, and says it with its generation. Runs in the order of evaluation.
    func note(_ evaluation: Evaluation) -> NetworkPath {
        state.withLock { state in
            var path = evaluation.path
            if evaluation.isQuick { path.supportsIPv6 = state.path.supportsIPv6 }
            if state.flaps.isFlapping { state.flaps.forget(at: monitor.surroundings.clock.monotonic) }
            path.isFlapping = state.flaps.isFlapping
            let isFirst = state.path.generation == 0
            path.generation = state.path.generation + (isFirst || !path.isSame(as: state.path) ? 1 : 0)
            state.path = path
            return path
        }
    }

    /// Those who listen, now.
    var subscriptions: [Subscription] {
        let all = state.withLock { Array($0.subscriptions.values) }
        return all.compactMap(\.subscription)
    }

    /// Counts a status that is about to be told, and says to whom, whether the target flaps, and whether someone waits for
    /// the end of that. Runs on the monitor's queue.
    func count(
        _ status: NetworkReachabilityStatus
    ) -> (listeners: [Subscription], isFlapping: Bool, awaitsEnd: Bool) {
        let clock = monitor.surroundings.clock
        let (all, isFlapping, awaitsEnd) = state.withLock { state in
            state.flaps.take(status, at: clock.monotonic)
            return (Array(state.subscriptions.values), state.flaps.isFlapping, state.flappingEnd != nil)
        }
        return (all.compactMap(\.subscription), isFlapping, awaitsEnd)
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

    var isWatched: Bool { state.withLock { !$0.subscriptions.isEmpty } }

    func add(_ subscription: Subscription) {
        state.withLock { $0.subscriptions[ObjectIdentifier(subscription)] = Weak(subscription: subscription) }
        monitor.watch(self)
        // Ended by another thread before it was added: nobody else will take it away.
        if subscription.hasEnded { remove(subscription) }
    }

    func remove(_ subscription: Subscription) {
        let isLast = state.withLock { state in
            state.subscriptions.removeValue(forKey: ObjectIdentifier(subscription)) != nil
                && state.subscriptions.isEmpty
        }
        if isLast { monitor.unwatch(self) }
    }
}
