import Dispatch
import LinuxSupport

/// A timer of a monitor.
enum MonitorTimer: Hashable, Sendable {
    /// One more evaluation when it has been quiet for a while.
    case trailing
    /// A route expires.
    case expiry
    /// Listening is tried again.
    case retry
    /// A change has lasted for as long as a subscription wants.
    case settled(ObjectIdentifier, TargetRecord.ID)
    /// A subscription has waited long enough for the name of its host.
    case nameWait(ObjectIdentifier, TargetRecord.ID)
    /// A target's status has not changed for long enough.
    case flappingEnd(TargetRecord.ID)
}

/// The monitor's few numbers, each with its reason.
enum MonitorTiming {
    /// After it has been quiet for so long, one more evaluation: a notification can come before the state it announces, and the
    /// barrier against that is inferred from the kernel's locking, not promised by it.
    static let trailingEvaluation = Duration.milliseconds(200)

    /// The maximum number of targets that are evaluated in one turn of the queue, which takes some milliseconds.
    static let evaluationLimit = 256

    /// Until netlink is tried again after it was denied: 0.1, 0.2, 0.4 ... 30 s.
    static func retryDelay(afterFailures failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100 << min(failures, 10)))
    }

    /// Added to the lifetime of a route, whose clock ticks in hundredths of a second.
    static let lifetimeSlack = Duration.milliseconds(15)

    /// Less sleep than this is the two clocks being read one after the other.
    static let shortestSleep = Duration.milliseconds(10)
}

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
        /// The wait begins, or begins again.
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
    ///   - last: The path that was reported last.
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

/// Who listens to a manager in Alamofire's ways. The manager holds it, and so does the delivery; it holds neither.
final class Listening: Sendable {
    struct State {
        /// Alamofire 4's property: called by the listening that `startListening()` began.
        var listener: NetworkReachabilityManager.Listener?
        var queue = DispatchQueue.main
        var subscription: Subscription?
    }

    let state: Locked<State> = Locked(State())

    /// Puts another subscription in place of the last, which ends; both happen outside the lock.
    func replaceSubscription(with subscription: Subscription?) {
        let previous = state.withLock { state in
            defer { state.subscription = subscription }
            return state.subscription
        }
        previous?.end()
    }

    /// Hands the next of `calls` to the listener of that moment on the queue of that moment.
    func deliver(_ calls: DeliveryQueue, of subscription: Subscription) {
        let queue = state.withLock { $0.queue }
        queue.async { [weak subscription, weak self] in
            // The owner of the subscription also owns this object, so both exist or the listener has ended.
            guard let call = calls.take(), let subscription, let self, !subscription.hasEnded else { return }
            guard let listener = state.withLock({ $0.listener }) else { return }
            subscription.call(since: call.noticed) { listener(call.path.status) }
        }
    }
}
