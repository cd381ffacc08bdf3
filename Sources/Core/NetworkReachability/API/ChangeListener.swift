import Dispatch
import LinuxSupport
import Netlink

/// Somebody who hears of every target of a monitor. Of each host it keeps the latest that has not been delivered, so it is
/// bounded by the number of hosts however slow its reader is.
final class ChangeListener: Sendable {
    /// The ways in which changes are delivered.
    enum Outlet: Sendable {
        /// Called at once, on the monitor's queue.
        case direct(@Sendable (NetworkReachabilityChange) -> Void)
        /// Called on a queue.
        case queue(DispatchQueue, @Sendable (NetworkReachabilityChange) -> Void)
        /// Called when there is something to `take()`.
        case signal(@Sendable () -> Void)
    }

    fileprivate struct Pending {
        let subscription: Subscription
        /// The last delivered path, if there is one.
        let last: NetworkPath?
        var path: NetworkPath
        /// When the notification that led to it was noticed.
        var noticed: Duration?
    }

    fileprivate struct State {
        var subscriptions: [String: Subscription] = [:]
        var pending: [String: Pending] = [:]
        /// The hosts of which something is pending, first come first.
        var order: [String] = []
        var next = 0
        /// Whether the outlet has been called for pending changes.
        var isAwake = false
        var hasEnded = false
    }

    private let interest: NetworkReachabilityInterest
    private let policy: SettlePolicy
    private let outlet: Outlet
    private let state: Locked<State> = Locked(State())

    init(_ interest: NetworkReachabilityInterest, _ policy: SettlePolicy, _ outlet: Outlet) {
        self.interest = interest
        self.policy = policy
        self.outlet = outlet
    }

    /// Begins to hear of a host.
    func follow(_ host: String, _ record: TargetRecord) {
        // Little is captured, for there may be very many of these.
        let subscription = Subscription(to: record, interest: interest, settle: policy) {
            [weak self] change, subscription in
            self?.put(change, of: host, subscription)
        }
        let isWanted = state.withLock { state in
            if state.hasEnded || state.subscriptions[host] != nil { return false }
            state.subscriptions[host] = subscription
            return true
        }
        if isWanted { subscription.begin() }
    }

    /// Hears of a host no more.
    func leave(_ host: String) {
        let subscription = state.withLock { state in
            state.pending[host] = nil
            return state.subscriptions.removeValue(forKey: host)
        }
        subscription?.end()
    }

    /// Hears of nothing any more; idempotent, never waits, may be called from inside the listener.
    func end() {
        let subscriptions = state.withLock { state in
            defer { (state.subscriptions, state.pending) = ([:], [:]) }
            state.hasEnded = true
            return state.subscriptions
        }
        for subscription in subscriptions.values { subscription.end() }
    }

    private func put(_ change: PathChange, of host: String, _ subscription: Subscription) {
        if case .direct(let listener) = outlet {
            subscription.call(since: change.noticed) {
                listener(NetworkReachabilityChange(host: host, path: change.path))
            }
            return
        }
        let wakes = state.withLock { state in
            // Of a host that has been removed, and perhaps inserted again, nothing older is delivered.
            guard state.subscriptions[host] === subscription else { return false }
            let known = state.pending[host]
            state.pending[host] = Pending(
                subscription: subscription,
                last: known == nil ? change.previous : known?.last,
                path: change.path,
                noticed: change.noticed
            )
            if known == nil { state.append(host) }
            defer { state.isAwake = true }
            return !state.isAwake
        }
        guard wakes else { return }
        switch outlet {
        case .direct: break
        case .signal(let signal): signal()
        case .queue(let queue, let listener): queue.async { [self] in drain(listener) }
        }
    }

    private func drain(_ listener: (NetworkReachabilityChange) -> Void) {
        while take({ listener($0) }) {}
    }

    /// How much is kept for a reader that is slow.
    var keptCount: Int { state.withLock { $0.order.count } }

    /// Hands over the first of what is pending; false, and asleep until there is more, when that is nothing.
    func take(_ listener: (NetworkReachabilityChange) -> Void) -> Bool {
        guard let (host, pending) = state.withLock({ $0.next(interest) }) else { return false }
        pending.subscription.call(since: pending.noticed) {
            listener(NetworkReachabilityChange(host: host, path: pending.path))
        }
        return true
    }
}

extension ChangeListener.State {
    /// Puts a host at the end, and forgets what has been taken, and hosts that went or stand there twice, as soon as these are
    /// most of it: a reader that is always a little behind never leaves it empty.
    fileprivate mutating func append(_ host: String) {
        order.append(host)
        guard order.count > 2 * subscriptions.count + 8 else { return }
        var seen: Set<String> = []
        order = order[next...].filter { pending[$0] != nil && seen.insert($0).inserted }
        next = 0
    }

    /// Takes the first host out of which something is pending that is a change to the listener.
    fileprivate mutating func next(
        _ interest: NetworkReachabilityInterest
    ) -> (host: String, pending: ChangeListener.Pending)? {
        while next < order.count {
            let host = order[next]
            next += 1
            guard let pending = pending.removeValue(forKey: host) else { continue }
            // Skipped changes may have led back to the last delivered path.
            if let last = pending.last, !interest.isChange(pending.path, after: last) { continue }
            return (host, pending)
        }
        // Room for everything at once is not kept: it is needed at the beginning, and after a change of the whole network.
        (order, pending, next, isAwake) = ([], [:], 0, false)
        return nil
    }
}
