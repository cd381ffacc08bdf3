public import Dispatch
import LinuxSupport
import Netlink

extension NetworkReachabilityManager {
    /// Whether a listener is being served.
    public var isListening: Bool { listening.state.withLock { $0.subscription != nil } }

    /// Begins to call `listener` on `queue`, in Alamofire 5's way: first with the current status, then whenever the status
    /// changes. Listening that was under way ends before; ``listener`` is not called by this.
    ///
    /// - Parameters:
    ///   - queue: Where the listener is called; a serial queue keeps the calls in order.
    ///   - listener: What is called with the status. It is let go of by ``stopListening()``.
    /// - Returns: Always true, see ``startListening()``.
    @preconcurrency @discardableResult
    public func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        let subscription = subscribe(.status, onQueue: queue) { listener($0.status) }
        listening.replaceSubscription(with: subscription)
        subscription.begin()
        return true
    }

    /// Ends what `startListening` began. It may be called at any time, also inside the listener, and never waits.
    ///
    /// Called on the listener's own serial queue, no call of the listener follows. Called elsewhere, a call that is just
    /// starting may still finish.
    public func stopListening() {
        listening.replaceSubscription(with: nil)
    }

    /// Adds a listener beside all others, in AFNetworking's way: called on `queue` first with the current status, then exactly
    /// when the flags change, until the token is let go or cancelled. It does not depend on `startListening`.
    ///
    /// - Parameters:
    ///   - policy: Whether a change is notified at once, or only when it has lasted.
    ///   - queue: Where the listener is called; a serial queue keeps the calls in order.
    ///   - listener: What is called with the status.
    /// - Returns: What keeps the listener alive.
    public func addListener(
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue = .main,
        _ listener: @escaping Listener
    ) -> NetworkReachabilityToken {
        addPathListener(for: .flags, settle: policy, onQueue: queue) { listener($0.status) }
    }

    /// Adds a listener that is called with the whole path, with its reason: first as it is now, then whenever the part of it changes
    /// that the listener is interested in.
    ///
    /// - Parameters:
    ///   - interest: What counts as a change.
    ///   - policy: Whether a change is notified at once, or only when it has lasted.
    ///   - queue: Where the listener is called. With nil it is called at once by the monitor itself, which saves a wake-up
    ///     and holds every other listener up until it returns; what changes meanwhile is notified as one change.
    ///   - listener: What is called with the path.
    /// - Returns: What keeps the listener alive.
    public func addPathListener(
        for interest: NetworkReachabilityInterest = .path,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue? = .main,
        _ listener: @escaping @Sendable (NetworkPath) -> Void
    ) -> NetworkReachabilityToken {
        let subscription = subscribe(interest, settle: policy, onQueue: queue, listener)
        subscription.begin()
        return NetworkReachabilityToken(Cancellation { subscription.end() })
    }

    /// A subscription that calls a listener on a queue, or with nil at once; not begun yet.
    private func subscribe(
        _ interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue?,
        _ listener: @escaping @Sendable (NetworkPath) -> Void
    ) -> Subscription {
        let calls = DeliveryQueue(interest)
        return subscribe(interest, settle: policy) { change, subscription in
            guard let queue else { return subscription.call(since: change.noticed) { listener(change.path) } }
            guard calls.put(change.path, since: change.noticed) else { return }
            queue.async { [weak subscription] in
                guard let call = calls.take(), let subscription, !subscription.hasEnded else { return }
                subscription.call(since: call.noticed) { listener(call.path) }
            }
        }
    }

    /// A subscription to the target, not begun yet. Who hears of the status alone hears first what ``status`` says.
    func subscribe(
        _ interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy,
        _ deliver: @escaping Subscription.Delivery
    ) -> Subscription {
        Subscription(
            to: record,
            interest: interest,
            settle: policy,
            waitingForName: interest.isOfStatus ? options.nameResolutionWait : .zero,
            deliver: deliver
        )
    }
}

/// Keeps a listener alive: letting go of it, or cancelling it, is the end of the listener.
public final class NetworkReachabilityToken: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) {
        self.cancellation = cancellation
    }

    deinit {
        cancel()
    }

    /// Ends the listener, at any time, also inside of it; never waits. Called on the listener's own serial queue, no call
    /// follows.
    public func cancel() {
        cancellation.cancel()
    }
}
