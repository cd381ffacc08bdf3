import LinuxSupport

/// What a subscription is notified of.
package struct PathChange: Sendable {
    package var path: NetworkPath
    /// What was notified before; nil for the first.
    package var previous: NetworkPath?
    /// When the kernel's notification that led to it was noticed, on the monotonic clock; nil where none did.
    package var noticed: Duration?
    /// When the last of what may have led to it was known of, on the same clock; nil where that is what was noticed first.
    package var completed: Duration?
    /// The netlink port of the process that took something away, where nothing else can have led to it; it may be wrong.
    package var remover: UInt32?
}

/// Somebody who wants to hear of a target's changes. The monitor holds it until it is ended.
package final class Subscription: Sendable {
    /// Hands a change over; runs on the monitor's queue, in the order of evaluation. Calls listeners through `call(since:)`.
    package typealias Delivery = @Sendable (PathChange, Subscription) -> Void

    package let record: TargetRecord
    let interest: NetworkReachabilityInterest
    /// How long a change has to last; nil for not at all.
    let settleTime: Duration?
    /// So long the first notification waits for the name of a host.
    let nameWait: Duration
    /// Let go of at the end: a listener may well hold what holds this.
    private let delivery: Locked<Delivery?>

    package init(
        to record: TargetRecord,
        interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy,
        waitingForName nameWait: Duration = .zero,
        deliver: @escaping Delivery
    ) {
        self.record = record
        self.interest = interest
        settleTime = policy.duration
        self.nameWait = nameWait
        delivery = Locked(deliver)
    }

    /// Whether nothing more may be notified. A delivery asks right before it calls.
    var hasEnded: Bool { delivery.withLock { $0 == nil } }

    /// Begins: the first path follows on the monitor's queue.
    package func begin() {
        record.monitor.add(self)
    }

    /// Notifies no more; idempotent, never waits, may be called from inside a delivery.
    package func end() {
        let last = delivery.withLock { $0.take() }
        if last != nil { record.monitor.remove(self) }
        // What the listener holds dies here, outside the lock.
        withExtendedLifetime(last) {}
    }

    func deliver(_ change: PathChange) {
        delivery.withLock { $0 }?(change, self)
    }

    /// Calls a listener, counts that, and measures how long after the notification it was. A listener waits for
    /// none of it but one reading of the clock.
    ///
    /// - Parameter noticed: When the notification was noticed; nil where none led to the call.
    package func call(since noticed: Duration?, _ listener: () -> Void) {
        let monitor = record.monitor
        let lag = noticed.map { monitor.environment.clock.monotonic - $0 }
        listener()
        monitor.countCall(lag: lag)
    }
}
