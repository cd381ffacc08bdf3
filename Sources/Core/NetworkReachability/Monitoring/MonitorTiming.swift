import Dispatch
import LinuxSupport

/// A timer of a monitor.
enum MonitorTimer: Hashable, Sendable {
    /// One more evaluation after a quiet period.
    case trailing
    /// The expiry of a route.
    case expiry
    /// Another attempt to listen.
    case retry
    /// A change has lasted for the time that a subscription requires.
    case settled(ObjectIdentifier, TargetRecord.ID)
    /// A subscription has waited for the name of its host for the maximum time.
    case nameWait(ObjectIdentifier, TargetRecord.ID)
    /// The status of a target has not changed for the flapping window.
    case flappingEnd(TargetRecord.ID)
}

/// The time constants and limits of the monitor, with their reasons.
enum MonitorTiming {
    /// The quiet period after which targets are evaluated once more. A notification can arrive before the state that it
    /// announces. The barrier against that is inferred from the kernel's locking and is not guaranteed.
    static let trailingEvaluation = Duration.milliseconds(200)

    /// The maximum number of targets that are evaluated in one turn of the queue, which takes some milliseconds.
    static let evaluationLimit = 256

    /// Returns the delay before the next attempt to use netlink: 0.1, 0.2, 0.4 ... 30 s.
    static func retryDelay(afterFailures failures: Int) -> Duration {
        min(.seconds(30), .milliseconds(100 << min(failures, 10)))
    }

    /// The time added to the lifetime of a route, because its clock has a resolution of 10 ms.
    static let lifetimeSlack = Duration.milliseconds(15)

    /// The shortest difference of the two clocks that counts as sleep. A smaller one results from reading the clocks
    /// one after the other.
    static let shortestSleep = Duration.milliseconds(10)
}

/// The delay of a subscription that reports only states that last. Pure; it returns the actions.
struct Settling: Sendable {
    /// The actions for a path.
    struct Step: Hashable, Sendable {
        /// The path to report now; nil for none.
        var notifying: NetworkPath?
        var wait = Wait.unchanged
    }

    /// The effect on the timer that ends the wait.
    enum Wait: Hashable, Sendable {
        /// The wait, if there is one, continues unchanged.
        case unchanged
        case ends
        /// The wait begins, or restarts.
        case begins(Duration)
    }

    private let duration: Duration
    private let interest: NetworkReachabilityInterest
    /// The latest path that is held back.
    private(set) var pending: NetworkPath?

    /// Creates the settling of a subscription.
    ///
    /// - Parameter duration: The time that a change must last.
    init(for duration: Duration, _ interest: NetworkReachabilityInterest) {
        self.duration = duration
        self.interest = interest
    }

    /// Processes the path of the latest evaluation.
    ///
    /// - Parameters:
    ///   - last: The last reported path.
    ///   - isDue: Whether this is the evaluation at the end of the wait.
    mutating func take(_ path: NetworkPath, after last: NetworkPath, isDue: Bool) -> Step {
        // The state that follows "unknown" is the first known state.
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
        return Step(notifying: flappingChange(path, after: last), wait: agrees ? .unchanged : .begins(duration))
    }

    /// Returns the last reported path with the current flapping state, if that has changed. This change is never held
    /// back, because a flapping target may never settle.
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

/// The listener of a manager with Alamofire's methods. The manager and the delivery retain this object. It retains
/// neither.
final class AlamofireListenerState: Sendable {
    struct State {
        /// The listener of Alamofire 4's property, called after `startListening()`.
        var listener: NetworkReachabilityManager.Listener?
        var queue = DispatchQueue.main
        var subscription: Subscription?
    }

    let state: Locked<State> = Locked(State())

    /// Replaces the subscription. The previous one ends, outside the lock.
    func replaceSubscription(with subscription: Subscription?) {
        let previous = state.withLock { state in
            defer { state.subscription = subscription }
            return state.subscription
        }
        previous?.end()
    }

    /// Delivers the next element of `calls` to the current listener on the current queue.
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
