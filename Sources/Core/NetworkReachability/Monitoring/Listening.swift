import Dispatch
import LinuxSupport

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
            // Whoever holds the subscription holds this too, so both are there or nobody wants to know.
            guard let call = calls.take(), let subscription, let self, !subscription.hasEnded else { return }
            guard let listener = state.withLock({ $0.listener }) else { return }
            subscription.call(since: call.noticed) { listener(call.path.status) }
        }
    }
}
