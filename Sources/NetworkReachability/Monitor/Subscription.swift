import Netlink

/// Somebody who wants to hear of a target's changes. Letting go of it ends it.
package final class Subscription: Sendable {
    private struct State {
        var told: NetworkPath?
        var hasBegun = false
        var hasEnded = false
    }

    let record: TargetRecord
    private let interest: NetworkReachabilityInterest
    /// Runs on the monitor's queue, in the order of evaluation.
    private let deliver: @Sendable (NetworkPath, Subscription) -> Void
    private let state: Locked<State> = Locked(State())

    init(
        to record: TargetRecord,
        interest: NetworkReachabilityInterest,
        deliver: @escaping @Sendable (NetworkPath, Subscription) -> Void
    ) {
        self.record = record
        self.interest = interest
        self.deliver = deliver
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
        let wasFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if wasFirst { record.remove(self) }
    }

    /// From now on paths count; those of evaluations under way are older than the listener. Runs on the monitor's queue.
    func begin() {
        state.withLock { $0.hasBegun = true }
    }

    /// Takes the path of the latest evaluation, and delivers it if it is news.
    func offer(_ path: NetworkPath) {
        let isNews = state.withLock { state in
            guard state.hasBegun, !state.hasEnded else { return false }
            if let told = state.told, !interest.isNews(path, after: told) { return false }
            state.told = path
            return true
        }
        if isNews { deliver(path, self) }
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
