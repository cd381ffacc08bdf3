import LinuxSupport

/// A change that is reported to a subscription.
package struct PathChange: Sendable {
    package var path: NetworkPath
    /// The last reported path; nil for the first report.
    package var previous: NetworkPath?
    /// The time at which the kernel's notification of the change was noticed, on the monotonic clock; nil if no
    /// notification caused it.
    package var noticed: Duration?
    /// The time at which the last possible cause of the change was known, on the monotonic clock; nil if it is the same
    /// as `noticed`.
    package var completed: Duration?
    /// The netlink port of the process that removed something, if nothing else can have caused the change. It may be
    /// wrong.
    package var remover: UInt32?
}

/// A subscription to the changes of a target. The monitor holds it until it ends.
package final class Subscription: Sendable {
    /// Delivers a change. Runs on the monitor's queue, in the order of evaluation. Calls listeners through
    /// `call(since:)`.
    package typealias Delivery = @Sendable (PathChange, Subscription) -> Void

    package let record: TargetRecord
    let interest: NetworkReachabilityInterest
    /// The time that a change must last; nil if changes are reported at once.
    let settleTime: Duration?
    /// The maximum time that the first report waits for the name of a host.
    let nameWait: Duration
    /// The delivery to the listener. It is nil after the end, because the listener may retain the owner of this
    /// object.
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

    /// A Boolean value that indicates whether the subscription has ended. A delivery checks this immediately before it
    /// calls the listener.
    var hasEnded: Bool { delivery.withLock { $0 == nil } }

    /// Starts the subscription. The first path follows on the monitor's queue.
    package func begin() {
        record.monitor.add(self)
    }

    /// Ends the subscription. Idempotent; never waits; may be called inside a delivery.
    package func end() {
        let last = delivery.withLock { $0.take() }
        if last != nil { record.monitor.remove(self) }
        // Objects of the listener are released here, outside the lock.
        withExtendedLifetime(last) {}
    }

    func deliver(_ change: PathChange) {
        delivery.withLock { $0 }?(change, self)
    }

    /// Calls a listener, counts the call, and measures the time since the notification. Only one reading of the clock
    /// precedes the call.
    ///
    /// - Parameter noticed: The time at which the notification was noticed; nil if none caused the call.
    package func call(since noticed: Duration?, _ listener: () -> Void) {
        let monitor = record.monitor
        let lag = noticed.map { monitor.environment.clock.monotonic - $0 }
        listener()
        monitor.countCall(lag: lag)
    }
}

extension Monitor.Subscriber {
    /// Processes a path: appends the actions that report it, or holds it back.
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
        case .unchanged: break
        case .ends: actions.append(.cancel(timer))
        case .begins(let pause): actions.append(.schedule(timer, after: pause))
        }
    }

    /// Returns whether the first report still waits for the name of the host, as synchronous queries do.
    private mutating func waits(forName path: NetworkPath, _ actions: inout [Monitor.Action]) -> Bool {
        let timer = MonitorTimer.nameWait(ObjectIdentifier(subscription), subscription.record.id)
        guard path.reason == .resolving else {
            if nameWait == .running { actions.append(.cancel(timer)) }
            nameWait = .ended
            return false
        }
        if nameWait == .notStarted {
            actions.append(.schedule(timer, after: subscription.nameWait))
            nameWait = .running
        }
        return nameWait == .running
    }
}

/// The changes that wait for delivery to one listener on its queue, in the order of evaluation. The number is limited
/// even if the queue is blocked: a new change then replaces the last one.
final class DeliveryQueue: Sendable {
    /// A path, and the time at which the notification of its change was noticed.
    typealias Delivery = (path: NetworkPath, noticed: Duration?)

    /// The maximum number of waiting changes. A queue that is merely busy does not reach it.
    static let limit = 256

    private struct State {
        var waiting: [Delivery] = []
        /// The number of calls that will follow.
        var calls = 0
    }

    private let interest: NetworkReachabilityInterest
    private let state: Locked<State> = Locked(State())

    init(_ interest: NetworkReachabilityInterest) {
        self.interest = interest
    }

    /// Appends a path. Returns whether one more call is needed to take it.
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

    /// Removes and returns the first path; nil if it was skipped. Each call does this once.
    func take() -> Delivery? {
        state.withLock { state in
            state.calls -= 1
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}
