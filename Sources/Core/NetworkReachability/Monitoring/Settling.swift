/// How a subscription holds changes back that may not last. Pure: it says what to do and does nothing.
struct Settling: Sendable {
    /// What to do with a path.
    struct Step: Hashable, Sendable {
        /// What to notify of now; nil for nothing.
        var notifying: NetworkPath?
        var wait = Wait.goesOn
    }

    /// What becomes of the wait for the evaluation that decides.
    enum Wait: Hashable, Sendable {
        /// It stays as it is, if there is one.
        case goesOn
        case ends
        /// It begins, anew if there is one.
        case begins(Duration)
    }

    private let duration: Duration
    private let interest: NetworkReachabilityInterest
    /// The latest path, while it is held back.
    private(set) var pending: NetworkPath?

    /// - Parameter duration: how long a change has to last.
    init(for duration: Duration, _ interest: NetworkReachabilityInterest) {
        self.duration = duration
        self.interest = interest
    }

    /// Takes the path of the latest evaluation.
    ///
    /// - Parameters:
    ///   - last: What was notified last.
    ///   - isDue: Whether this is the evaluation that was waited for.
    mutating func take(_ path: NetworkPath, after last: NetworkPath, isDue: Bool) -> Step {
        // What follows "unknown" is the first thing known.
        guard last.status != .unknown, interest.isChange(path.withFlapping(of: last), after: last) else {
            pending = nil
            return Step(notifying: interest.isChange(path, after: last) ? path : nil, wait: .ends)
        }
        let agrees = pending.map { !interest.isChange(path.withFlapping(of: $0), after: $0) } ?? false
        if agrees, isDue {
            pending = nil
            return Step(notifying: path, wait: .ends)
        }
        pending = path
        return Step(notifying: flappingChange(path, after: last), wait: agrees ? .goesOn : .begins(duration))
    }

    /// What was notified last, with whether the target flaps now: a change that is never held back, for a
    /// target that flaps may never settle.
    private func flappingChange(_ path: NetworkPath, after last: NetworkPath) -> NetworkPath? {
        guard path.isFlapping != last.isFlapping, interest.contains(.path) else { return nil }
        var change = last.withFlapping(of: path)
        change.generation = path.generation
        return change
    }
}

extension NetworkPath {
    fileprivate func withFlapping(of other: NetworkPath) -> NetworkPath {
        var path = self
        path.isFlapping = other.isFlapping
        return path
    }
}
