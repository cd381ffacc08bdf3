import Dispatch
import LinuxSupport
import ReachabilityFleet

/// What a hub has not decided on yet, in the order in which it came. The number of messages is bounded: who brings more waits, so that the
/// broker keeps what comes. Thread-safe.
final class HubIntake: Sendable {
    enum Item {
        case message(HubKeeper.Delivery)
        /// A message of a machine was lost here.
        case lost(FleetPlace)
        /// The broker is away, and is back, at a time by the hub's clock.
        case away, back(Duration)
    }

    private struct State {
        var waiting: [Item] = []
        /// Whether somebody comes for what waits.
        var isEmptied = false
        /// Whether somebody waits for room.
        var isAwaited = false
        var isClosed = false
    }

    private enum Outcome { case taken(isFirst: Bool), full, refused }

    /// So many wait in memory at most.
    static let limit = 10_000
    /// So long whoever brings something waits for room.
    private static let patience = DispatchTimeInterval.seconds(10)

    private let state = Locked(State())
    /// Signalled when there is room again.
    private let room = DispatchSemaphore(value: 0)

    /// Takes messages, in their order, of one caller at a time.
    ///
    /// - Parameter begin: Called where nobody comes for them yet: who is called comes, until ``next(_:)`` is empty.
    /// - Returns: False where they are not taken, for there was no room for seconds.
    func take(_ deliveries: [HubKeeper.Delivery], begin: () -> Void) -> Bool {
        let deadline = DispatchTime.now() + Self.patience
        while true {
            switch accept(deliveries.map { .message($0) }, limit: Self.limit) {
            case .taken(let isFirst):
                if isFirst { begin() }
                return true
            case .full: if room.wait(timeout: deadline) == .timedOut { return false }
            case .refused: return false
            }
        }
    }

    /// Takes what is no message, for which there is always room: it is rare, and what comes after it must not overtake it.
    func add(_ item: Item, begin: () -> Void) {
        if case .taken(isFirst: true) = accept([item], limit: .max) { begin() }
    }

    /// The next that are decided on together; none where nothing waits.
    func next(_ count: Int) -> [Item] {
        let (batch, isAwaited) = state.withLock { state in
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batch.count)
            state.isEmptied = !batch.isEmpty
            defer { state.isAwaited = false }
            return (batch, state.isAwaited)
        }
        if isAwaited { room.signal() }
        return batch
    }

    /// Takes nothing any more.
    func close() {
        state.withLock { $0.isClosed = true }
        room.signal()
    }

    private func accept(_ items: [Item], limit: Int) -> Outcome {
        state.withLock { state in
            if state.isClosed || items.count > limit { return .refused }
            if state.waiting.count + items.count > limit {
                state.isAwaited = true
                return .full
            }
            state.waiting += items
            defer { state.isEmptied = true }
            return .taken(isFirst: !state.isEmptied)
        }
    }
}
