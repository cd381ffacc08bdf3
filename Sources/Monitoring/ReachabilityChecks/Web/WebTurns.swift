import LinuxSupport

/// Whose turn it is to speak with a web server: such a connection is none of the engine's any more, and has two descriptors. Those who
/// wait have not begun. Thread-safe.
final class WebTurns: Sendable {
    /// For all checks of the process: a quarter of its descriptors.
    static let shared = WebTurns(count: min(256, OpenFiles.limit / 8))

    private struct State {
        var free: Int
        var line: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// The first comes first; who has left is still in it.
        var order: ArraySlice<UInt64> = []
        var last: UInt64 = 0
    }

    private let count: Int
    private let state: Locked<State>

    init(count: Int) {
        self.count = max(1, count)
        state = Locked(State(free: max(1, count)))
    }

    /// Whether somebody has a turn, so that there will be room.
    var isInUse: Bool { state.withLock { $0.free < count } }

    /// Does the work when it is its turn; nil where the task is cancelled before.
    func during<Value: Sendable>(_ work: () async -> Value) async -> Value? {
        guard await take() else { return nil }
        defer { giveBack() }
        return await work()
    }

    private func take() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let isMine: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.line[number] = waiting
                    state.order.append(number)
                    return nil
                }
                if let isMine { waiting.resume(returning: isMine) }
            }
        } onCancel: {
            state.withLock { $0.line.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    private func giveBack() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            while let number = state.order.popFirst() {
                if let next = state.line.removeValue(forKey: number) { return next }
            }
            state.order = []
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
