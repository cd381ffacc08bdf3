import LinuxSupport

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
            // What is passed over may have led back to where the listener will be.
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
