import Netlink

/// One distinct target of a monitor: shared by all managers and subscriptions that mean the same, gone with the last.
package final class TargetRecord: Sendable {
    private struct Weak {
        weak let subscription: Subscription?
    }

    private struct State {
        var path = NetworkPath()
        /// The generation of the path that subscriptions were offered last.
        var offered: UInt64 = 0
        var subscriptions: [Weak] = []
        /// Whether somebody has begun to listen who has not been offered anything.
        var hasNew = false
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
    func noted(_ evaluation: Evaluation) -> Evaluation {
        var evaluation = evaluation
        state.withLock { state in
            if evaluation.leavesIPv6Open { evaluation.path.supportsIPv6 = state.path.supportsIPv6 }
            evaluation.path.generation = state.path.generation
            if evaluation.path.generation > 0, evaluation.path == state.path { return }
            evaluation.path.generation += 1
            state.path = evaluation.path
        }
        return evaluation
    }
}

// MARK: - Those who listen

extension TargetRecord {
    var subscriptions: [Subscription] { state.withLock { $0.subscriptions }.compactMap(\.subscription) }

    var isWatched: Bool { state.withLock { !$0.subscriptions.isEmpty } }

    /// Whether somebody wants to know everything of a path, at once.
    var wantsEverything: Bool { subscriptions.contains(where: \.wantsEverything) }

    func add(_ subscription: Subscription) {
        state.withLock { state in
            state.subscriptions.append(Weak(subscription: subscription))
            state.hasNew = true
        }
        monitor.watch(self)
        // Ended by another thread before it was added: nobody else will take it away.
        if subscription.hasEnded { remove(subscription) }
    }

    func remove(_ subscription: Subscription) {
        // Held weakly by then: one that is just being let go of cannot be found any more.
        let (wasThere, isLast) = state.withLock { state in
            let before = state.subscriptions.count
            state.subscriptions.removeAll { $0.subscription == nil || $0.subscription === subscription }
            return (state.subscriptions.count < before, state.subscriptions.isEmpty)
        }
        if wasThere, isLast { monitor.unwatch(self) }
    }

    /// Whether somebody would hear that reachability is lost.
    func wouldLose(by path: NetworkPath) -> Bool {
        guard !path.status.isReachable else { return false }
        let isNews = state.withLock { $0.offered != path.generation }
        return isNews && subscriptions.contains { $0.wouldLose(by: path) }
    }

    /// Offers a path to everybody, unless all of them have been offered it already.
    ///
    /// - Parameter noticed: When the notification came that led to it, on the monotonic clock.
    func offer(_ path: NetworkPath, since noticed: Duration?) {
        let isNews = state.withLock { state in
            defer { (state.offered, state.hasNew) = (path.generation, false) }
            return state.offered != path.generation || state.hasNew
        }
        guard isNews else { return }
        // Those who have not begun yet take nothing, and will be offered what is so then.
        for subscription in subscriptions where !subscription.offer(path, since: noticed) {
            state.withLock { $0.hasNew = true }
        }
    }
}
