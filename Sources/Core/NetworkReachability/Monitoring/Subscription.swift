import LinuxSupport

/// A change that is reported to a subscription.
package struct PathChange: Sendable {
    package var path: NetworkPath
    /// The path that was reported before; nil for the first.
    package var previous: NetworkPath?
    /// When the kernel's notification that led to it was noticed, on the monotonic clock; nil where none did.
    package var noticed: Duration?
    /// When the last of what may have led to it was known of, on the same clock; nil where that is what was noticed first.
    package var completed: Duration?
    /// The netlink port of the process that took something away, where nothing else can have led to it; it may be wrong.
    package var remover: UInt32?
}

/// A subscription to the changes of a target. The monitor holds it until it ends.
package final class Subscription: Sendable {
    /// Hands a change over; runs on the monitor's queue, in the order of evaluation. Calls listeners through `call(since:)`.
    package typealias Delivery = @Sendable (PathChange, Subscription) -> Void

    package let record: TargetRecord
    let interest: NetworkReachabilityInterest
    /// How long a change has to last; nil for not at all.
    let settleTime: Duration?
    /// The maximum time that the first notification waits for the name of a host.
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
        // Objects of the listener are released here, outside the lock.
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

extension Monitor.Subscriber {
    /// Says what it is to be notified of, and what it holds back.
    mutating func offer(
        _ path: NetworkPath,
        _ origin: Monitor.Origin,
        _ settling: inout Settling?,
        _ actions: inout [Monitor.Action]
    ) {
        if last == nil, waits(forName: path, &actions) { return }
        guard let last, settling != nil else {
            if let last, !subscription.interest.isChange(path, after: last) { return }
            let change = PathChange(
                path: path,
                previous: last,
                noticed: origin.noticed,
                completed: origin.completed,
                remover: origin.remover
            )
            actions.append(.notify(subscription, change))
            self.last = path
            return
        }
        defer { isDue = false }
        guard let step = settling?.take(path, after: last, isDue: isDue) else { return }
        if let change = step.notifying {
            actions.append(.notify(subscription, PathChange(path: change, previous: last)))
            self.last = change
        }
        let timer = MonitorTimer.settled(ObjectIdentifier(subscription), subscription.record.id)
        switch step.wait {
        case .goesOn: break
        case .ends: actions.append(.cancel(timer))
        case .begins(let pause): actions.append(.schedule(timer, after: pause))
        }
    }

    /// Whether the first notification still waits for the name of the host, as synchronous queries do.
    private mutating func waits(forName path: NetworkPath, _ actions: inout [Monitor.Action]) -> Bool {
        let timer = MonitorTimer.nameWait(ObjectIdentifier(subscription), subscription.record.id)
        guard path.reason == .resolving else {
            if nameWait == .runs { actions.append(.cancel(timer)) }
            nameWait = .isOver
            return false
        }
        if nameWait == .isToBegin {
            actions.append(.schedule(timer, after: subscription.nameWait))
            nameWait = .runs
        }
        return nameWait == .runs
    }
}

/// What waits to be delivered to one listener on its queue, in order. However long the queue is blocked, it is bounded: then the
/// latest takes the place of the one before it.
final class DeliveryQueue: Sendable {
    /// A path, and when the notification that led to it was noticed.
    typealias Delivery = (path: NetworkPath, noticed: Duration?)

    /// More changes than anybody sees while a queue is merely busy.
    static let limit = 256

    private struct State {
        var waiting: [Delivery] = []
        /// The calls that are to come.
        var calls = 0
    }

    private let interest: NetworkReachabilityInterest
    private let state: Locked<State> = Locked(State())

    init(_ interest: NetworkReachabilityInterest) {
        self.interest = interest
    }

    /// Puts a path at the end; says whether one more call is needed to take it.
    func put(_ path: NetworkPath, since noticed: Duration?) -> Bool {
        state.withLock { state in
            let isFull = state.waiting.count >= Self.limit
            if isFull { state.waiting.removeLast() }
            // Skipped changes may have led back to the next delivered path.
            if isFull, let last = state.waiting.last, !interest.isChange(path, after: last.path) {
                return false
            }
            state.waiting.append((path, noticed))
            guard state.waiting.count > state.calls else { return false }
            state.calls += 1
            return true
        }
    }

    /// Takes the first; nil where it was passed over. Every call does so once.
    func take() -> Delivery? {
        state.withLock { state in
            state.calls -= 1
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}
