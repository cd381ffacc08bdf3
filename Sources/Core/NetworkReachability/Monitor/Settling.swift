/// How a subscription holds changes back that may not last. Pure: it says what to do and does nothing.
struct Settling: Sendable {
    /// What to do with a path.
    struct Step: Hashable, Sendable {
        /// What to tell now; nil for nothing.
        var telling: NetworkPath?
        var wait = Wait.goesOn
    }

    /// What becomes of the wait for the next look.
    enum Wait: Hashable, Sendable {
        /// It stays as it is, if there is one.
        case goesOn
        case ends
        /// It begins, anew if there is one.
        case begins(Duration)
    }

    private let policy: SettlePolicy
    private let interest: NetworkReachabilityInterest
    /// The latest path, while it is held back.
    private(set) var pending: NetworkPath?
    /// How many more looks have to agree with it.
    private var looks = 0

    init(_ policy: SettlePolicy, _ interest: NetworkReachabilityInterest) {
        self.policy = policy
        self.interest = interest
    }

    /// Takes the path of the latest look.
    ///
    /// - Parameters:
    ///   - told: What was told last.
    ///   - isDue: Whether this is the look that was waited for.
    mutating func take(_ path: NetworkPath, after told: NetworkPath, isDue: Bool) -> Step {
        guard isHeldBack(path, after: told), let plan = policy.plan(forLoss: told.status.isReachable) else {
            return settle(interest.isNews(path, after: told) ? path : nil)
        }
        var step = Step(telling: flappingNews(path, after: told))
        if let pending, agrees(path, with: pending) {
            guard isDue else {
                self.pending = path
                return step
            }
            looks -= 1
            if looks == 0 { return settle(path) }
        } else {
            looks = plan.looks
        }
        pending = path
        step.wait = .begins(plan.pause)
        return step
    }

    private mutating func settle(_ news: NetworkPath?) -> Step {
        pending = nil
        return Step(telling: news, wait: .ends)
    }

    /// Whether the policy is about such a change.
    private func isHeldBack(_ path: NetworkPath, after told: NetworkPath) -> Bool {
        // What follows "unknown" is the first thing known.
        guard told.status != .unknown else { return false }
        return switch policy {
        case .immediate: false
        case .settled: interest.isNews(path.withFlapping(of: told), after: told)
        case .hysteresis: path.status.isReachable != told.status.isReachable
        }
    }

    private func agrees(_ path: NetworkPath, with pending: NetworkPath) -> Bool {
        switch policy {
        case .immediate: true
        case .settled: !interest.isNews(path.withFlapping(of: pending), after: pending)
        case .hysteresis: path.status.isReachable == pending.status.isReachable
        }
    }

    /// What was told last, with the news that the target flaps or does so no more: news that no policy holds back, for a
    /// target that flaps may never settle.
    private func flappingNews(_ path: NetworkPath, after told: NetworkPath) -> NetworkPath? {
        guard path.isFlapping != told.isFlapping, interest.contains(.path) else { return nil }
        var news = told.withFlapping(of: path)
        news.generation = path.generation
        return news
    }
}

extension NetworkPath {
    fileprivate func withFlapping(of other: NetworkPath) -> NetworkPath {
        var path = self
        path.isFlapping = other.isFlapping
        return path
    }
}
