import Netlink

/// One distinct target of a monitor: shared by all managers and subscriptions that mean the same, gone with the last.
package final class TargetRecord: Sendable {
    private struct Weak {
        weak let subscription: Subscription?
    }

    private struct State {
        var path = NetworkPath()
        var subscriptions: [ObjectIdentifier: Weak] = [:]
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
