import Netlink

/// Somebody who wants to hear of a target's changes. Letting go of it ends it.
package final class Subscription: Sendable {
    /// Delivers a path, with the time its notification was noticed if there was one; runs on the monitor's queue, in the order
    /// of evaluation. Calls listeners through `call(since:)`.
    typealias Delivery = @Sendable (NetworkPath, Subscription, _ noticed: Duration?) -> Void

    private struct State {
        /// Let go of at the end: a listener may well hold what holds this.
        var deliver: Delivery?
        var told: NetworkPath?
        var hasBegun = false
        var hasEnded = false
    }

    let record: TargetRecord
    private let interest: NetworkReachabilityInterest
    private let state: Locked<State>

    init(
        to record: TargetRecord,
        interest: NetworkReachabilityInterest,
        deliver: @escaping Delivery
    ) {
        self.record = record
        self.interest = interest
        state = Locked(State(deliver: deliver))
    }

    deinit {
        end()
    }

    /// Whether everything of a path matters, at once.
    var wantsEverything: Bool { interest == .path }

    /// Whether nothing more may be told. A delivery asks right before it calls.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Tells nothing more; idempotent, never waits, may be called from inside a delivery.
    package func end() {
        let (wasFirst, deliver): (Bool, Delivery?) = state.withLock { state in
            defer {
                state.hasEnded = true
                state.deliver = nil
            }
            return (!state.hasEnded, state.deliver)
        }
        if wasFirst { record.remove(self) }
        // What the listener holds dies here, outside the lock.
        withExtendedLifetime(deliver) {}
    }

    /// From now on paths count; those of evaluations under way are older than the listener. Runs on the monitor's queue.
    func begin() {
        state.withLock { $0.hasBegun = true }
    }

    /// Takes the path of the latest evaluation, and delivers it if it is news.
    ///
    /// - Returns: False if it was not taken, because it is older than the listener.
    func offer(_ path: NetworkPath, since noticed: Duration? = nil) -> Bool {
        let (hasBegun, deliver): (Bool, Delivery?) = state.withLock { state in
            guard state.hasBegun, !state.hasEnded else { return (state.hasBegun, nil) }
            if let told = state.told, !interest.isNews(path, after: told) { return (true, nil) }
            state.told = path
            return (true, state.deliver)
        }
        deliver?(path, self, noticed)
        return hasBegun
    }

    /// Whether `path` would take reachability away from what was told last.
    func wouldLose(by path: NetworkPath) -> Bool {
        state.withLock { $0.told?.status.isReachable ?? false } && !path.status.isReachable
    }
}

extension NetworkReachabilityInterest {
    fileprivate func isNews(_ path: NetworkPath, after told: NetworkPath) -> Bool {
        switch self {
        case .status: path.status != told.status
        case .flags: path.flags != told.flags
        case .way:
            path.status != told.status || path.interface != told.interface || path.gateway != told.gateway
                || path.source != told.source
        case .path: !path.isSame(as: told)
        }
    }
}
