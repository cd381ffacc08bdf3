import LinuxSupport

/// Work that any number wait for, and that is done once: it begins with the first and is cancelled with the last of them.
final class SharedErrand<Value: Sendable>: Sendable {
    private struct State {
        var waiters: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var lastID: UInt64 = 0
        var task: Task<Void, Never>?
        /// Which task it is: one that was cancelled says nothing any more.
        var turn = 0
    }

    private let state = Locked(State())

    /// How many wait.
    var waiters: Int { state.withLock { $0.waiters.count } }

    /// What came of it; nil where the task is cancelled.
    func value(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let (stream, waiter) = AsyncStream.makeStream(of: Value.self)
        let id = state.withLock { state in
            state.lastID += 1
            state.waiters[state.lastID] = waiter
            if state.task == nil {
                state.turn += 1
                state.task = Task { [turn = state.turn] in self.end(await work(), turn) }
            }
            return state.lastID
        }
        waiter.onTermination = { [weak self] _ in self?.leave(id) }
        return await stream.first { _ in true }
    }

    private func end(_ value: Value, _ turn: Int) {
        let waiters = state.withLock { state -> [AsyncStream<Value>.Continuation] in
            guard state.turn == turn, state.task != nil else { return [] }
            defer { (state.waiters, state.task) = ([:], nil) }
            return Array(state.waiters.values)
        }
        for waiter in waiters {
            waiter.yield(value)
            waiter.finish()
        }
    }

    private func leave(_ id: UInt64) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.waiters.removeValue(forKey: id) != nil, state.waiters.isEmpty else { return nil }
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }
}
