import LinuxPrimitives

/// How far something is, for those who watch.
final class ProgressFeed<Progress: Hashable & Sendable>: Sendable {
    private struct State {
        var progress: Progress
        var watchers: [AsyncStream<Progress>.Continuation] = []
        var isOver = false
    }

    private let state: Locked<State>

    init(_ progress: Progress) { state = Locked(State(progress: progress)) }

    /// Each change from now on, the newest alone for who reads slowly, until it is over.
    var progress: AsyncStream<Progress> {
        let (progress, watcher) = AsyncStream.makeStream(of: Progress.self, bufferingPolicy: .bufferingNewest(1))
        let isOver = state.withLock { state in
            state.watchers.append(watcher)
            return state.isOver
        }
        if isOver { watcher.finish() }
        return progress
    }

    /// Told under the lock, so that it comes in order; nobody is told twice of the same.
    func change(_ change: (inout Progress) -> Void) {
        state.withLock { state in
            let before = state.progress
            change(&state.progress)
            if state.progress != before { for watcher in state.watchers { watcher.yield(state.progress) } }
        }
    }

    /// It is over.
    func finish() {
        let watchers = state.withLock { state in
            state.isOver = true
            return state.watchers
        }
        for watcher in watchers { watcher.finish() }
    }
}
