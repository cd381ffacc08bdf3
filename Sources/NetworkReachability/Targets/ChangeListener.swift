import Dispatch
import Logging
import Netlink

/// Somebody who hears of every target of a monitor. Of each host it keeps the latest that has not been told, so it is
/// bounded by the number of hosts however slow its reader is.
final class ChangeListener: Sendable {
    /// How changes get to whoever wants them.
    enum Outlet: Sendable {
        /// Called at once, on the monitor's queue.
        case direct(@Sendable (NetworkReachabilityChange) -> Void)
        /// Called on a queue.
        case queue(DispatchQueue, @Sendable (NetworkReachabilityChange) -> Void)
        /// Told that there is something to `take()`.
        case signal(@Sendable () -> Void)
    }

    fileprivate struct Entry {
        var subscription: Subscription?
        /// What the listener knows.
        var told: SharedPath?
        var pending: SharedPath?
        /// When the notification of what is pending was noticed.
        var noticed: Duration?
    }

    fileprivate struct State {
        var entries: [String: Entry] = [:]
        /// The hosts of which something is pending, first come first.
        var order: [String] = []
        var next = 0
        /// Whether the outlet has been told that there is something.
        var isAwake = false
        var hasEnded = false
    }

    private let interest: NetworkReachabilityInterest
    private let policy: SettlePolicy
    private let outlet: Outlet
    private let logger: Logger?
    private let state: Locked<State> = Locked(State())

    init(_ interest: NetworkReachabilityInterest, _ policy: SettlePolicy, _ logger: Logger?, _ outlet: Outlet) {
        self.interest = interest
        self.policy = policy
        self.logger = logger
        self.outlet = outlet
    }

    /// Begins to hear of a host.
    func follow(_ host: String, _ record: TargetRecord) {
        // Little is captured, for there may be very many of these.
        let subscription = Subscription(to: record, interest: interest, settle: policy) {
            [weak self] path, subscription, noticed in
            guard let self else { return }
            logger?.log(path.path, of: subscription.record.target)
            put(path, of: host, subscription, since: noticed)
        }
        let isWanted = state.withLock { state in
            if state.hasEnded || state.entries[host] != nil { return false }
            state.entries[host] = Entry(subscription: subscription)
            return true
        }
        if isWanted { record.add(subscription) }
    }

    /// Hears of a host no more.
    func leave(_ host: String) {
        let entry = state.withLock { $0.entries.removeValue(forKey: host) }
        entry?.subscription?.end()
    }

    /// Hears of nothing any more; idempotent, never waits, may be called from inside the listener.
    func end() {
        let entries = state.withLock { state in
            defer { state.entries = [:] }
            state.hasEnded = true
            return state.entries
        }
        for entry in entries.values { entry.subscription?.end() }
    }

    private func put(_ path: SharedPath, of host: String, _ subscription: Subscription, since noticed: Duration?) {
        if case .direct(let listener) = outlet {
            subscription.call(since: noticed) { listener(NetworkReachabilityChange(host: host, path: path.path)) }
            return
        }
        let wakes = state.withLock { state in
            // Of a host that has been removed, and perhaps inserted again, nothing older is told.
            guard state.entries[host]?.subscription === subscription else { return false }
            let isFirst = state.entries[host]?.pending == nil
            state.entries[host]?.pending = path
            state.entries[host]?.noticed = noticed
            if isFirst { state.append(host) }
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
        guard let (host, entry) = state.withLock({ $0.next(interest) }), let path = entry.told else { return false }
        entry.subscription?.call(since: entry.noticed) {
            listener(NetworkReachabilityChange(host: host, path: path.path))
        }
        return true
    }
}

extension ChangeListener.State {
    /// Puts a host at the end, and forgets what has been taken, and hosts that went or stand there twice, as soon as these are
    /// most of it: a reader that is always a little behind never leaves it empty.
    fileprivate mutating func append(_ host: String) {
        order.append(host)
        guard order.count > 2 * entries.count + 8 else { return }
        var seen: Set<String> = []
        order = order[next...].filter { entries[$0]?.pending != nil && seen.insert($0).inserted }
        next = 0
    }

    /// Takes the first host out of which something is pending that is news to the listener.
    fileprivate mutating func next(
        _ interest: NetworkReachabilityInterest
    ) -> (host: String, entry: ChangeListener.Entry)? {
        while next < order.count {
            let host = order[next]
            next += 1
            guard var entry = entries[host], let path = entry.pending else { continue }
            entry.pending = nil
            // What was passed over may have led back to where the listener was.
            let isNews = entry.told.map { interest.isNews(path.path, after: $0.path) } ?? true
            if isNews { entry.told = path }
            entries[host] = entry
            if isNews { return (host, entry) }
        }
        (order, next, isAwake) = ([], 0, false)
        return nil
    }
}
