import Dispatch
import LinuxSupport
import Netlink

/// A listener of all hosts of a monitor. It keeps only the latest undelivered path of each host, so its memory is
/// limited by the number of hosts even if its reader is slow.
final class ChangeListener: Sendable {
    /// The method by which changes are delivered.
    enum Delivery: Sendable {
        /// The closure is called directly, on the queue of the monitor.
        case direct(@Sendable (NetworkReachabilityChange) -> Void)
        /// The closure is called on the given queue.
        case queue(DispatchQueue, @Sendable (NetworkReachabilityChange) -> Void)
        /// The closure is called when `take()` has a change to return.
        case signal(@Sendable () -> Void)
    }

    struct Pending {
        let subscription: Subscription
        /// The last delivered path, or nil if none was delivered.
        let last: NetworkPath?
        var path: NetworkPath
        /// The time at which the notification that caused the change was noticed.
        var noticed: Duration?
    }

    struct State {
        var subscriptions: [String: Subscription] = [:]
        var pending: [String: Pending] = [:]
        /// The hosts with pending changes, in order of arrival.
        var order: [String] = []
        var next = 0
        /// A Boolean value that indicates whether the delivery has been called for the pending changes.
        var isCalled = false
        var hasEnded = false
    }

    private let interest: NetworkReachabilityInterest
    private let policy: SettlePolicy
    private let delivery: Delivery
    let state: Locked<State> = Locked(State())

    init(_ interest: NetworkReachabilityInterest, _ policy: SettlePolicy, _ delivery: Delivery) {
        self.interest = interest
        self.policy = policy
        self.delivery = delivery
    }

    /// Subscribes to a host.
    func follow(_ host: String, _ record: TargetRecord) {
        // Captures little, because there may be very many of these closures.
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

    /// Ends the subscription to a host.
    func leave(_ host: String) {
        let subscription = state.withLock { state in
            state.pending[host] = nil
            return state.subscriptions.removeValue(forKey: host)
        }
        subscription?.end()
    }

    /// Ends all subscriptions. Idempotent; never waits; may be called inside the listener.
    func end() {
        let subscriptions = state.withLock { state in
            defer { (state.subscriptions, state.pending) = ([:], [:]) }
            state.hasEnded = true
            return state.subscriptions
        }
        for subscription in subscriptions.values { subscription.end() }
    }

    private func put(_ change: PathChange, of host: String, _ subscription: Subscription) {
        if case .direct(let listener) = delivery {
            subscription.call(since: change.noticed) {
                listener(NetworkReachabilityChange(host: host, path: change.path))
            }
            return
        }
        let wakes = state.withLock { state in
            // After a host was removed, and possibly inserted again, its older changes are not delivered.
            guard state.subscriptions[host] === subscription else { return false }
            let known = state.pending[host]
            state.pending[host] = Pending(
                subscription: subscription,
                last: known == nil ? change.previous : known?.last,
                path: change.path,
                noticed: change.noticed
            )
            if known == nil { state.append(host) }
            defer { state.isCalled = true }
            return !state.isCalled
        }
        guard wakes else { return }
        switch delivery {
        case .direct: break
        case .signal(let signal): signal()
        case .queue(let queue, let listener): queue.async { [self] in drain(listener) }
        }
    }

    private func drain(_ listener: (NetworkReachabilityChange) -> Void) {
        while take(listener) != nil {}
    }

    /// Removes and returns the first pending change, and calls `listener` with it. Returns nil if no change is pending.
    /// The delivery is then called for the next change.
    @discardableResult
    func take(_ listener: (NetworkReachabilityChange) -> Void = { _ in }) -> NetworkReachabilityChange? {
        guard let (host, pending) = state.withLock({ $0.next(interest) }) else { return nil }
        let change = NetworkReachabilityChange(host: host, path: pending.path)
        pending.subscription.call(since: pending.noticed) { listener(change) }
        return change
    }
}

extension ChangeListener.State {
    /// Appends a host. Compacts the queue when most of its entries are stale, because a reader that is always slightly
    /// behind never empties it.
    fileprivate mutating func append(_ host: String) {
        order.append(host)
        guard order.count > 2 * subscriptions.count + 8 else { return }
        var seen: Set<String> = []
        order = order[next...].filter { pending[$0] != nil && seen.insert($0).inserted }
        next = 0
    }

    /// Removes and returns the first host whose pending path is a change for the listener.
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
        // The capacity is released, because it is needed only at the start and after a change of the whole network.
        (order, pending, next, isCalled) = ([], [:], 0, false)
        return nil
    }
}
