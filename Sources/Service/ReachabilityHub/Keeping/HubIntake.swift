import Dispatch
import LinuxPrimitives

/// Messages for a hub that it has not decided on. Their number is bounded: who brings more waits, so that the broker keeps what comes.
/// Thread-safe.
final class HubIntake: Sendable {
    private struct State {
        var waiting: [HubKeeper.Delivery] = []
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
            switch accept(deliveries) {
            case .taken(let isFirst):
                if isFirst { begin() }
                return true
            case .full: if room.wait(timeout: deadline) == .timedOut { return false }
            case .refused: return false
            }
        }
    }

    /// The next that are decided on together; none where nothing waits.
    func next(_ count: Int) -> [HubKeeper.Delivery] {
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

    private func accept(_ deliveries: [HubKeeper.Delivery]) -> Outcome {
        state.withLock { state in
            if state.isClosed || deliveries.count > Self.limit { return .refused }
            if state.waiting.count + deliveries.count > Self.limit {
                state.isAwaited = true
                return .full
            }
            state.waiting += deliveries
            defer { state.isEmptied = true }
            return .taken(isFirst: !state.isEmptied)
        }
    }
}
