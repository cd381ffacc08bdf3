import LinuxSupport

/// The progress of a request, for any number of watchers.
final class ProgressFeed<Progress: Hashable & Sendable>: Sendable {
    private struct State {
        var progress: Progress
        var hasChanged = false
        var watchers: [AsyncStream<Progress>.Continuation] = []
        var isOver = false
    }

    private let state: Locked<State>

    init(_ progress: Progress) { state = Locked(State(progress: progress)) }

    /// The progress so far, if there is any, then each change until the end. A slow reader gets the newest alone.
    var progress: AsyncStream<Progress> {
        let (progress, watcher) = AsyncStream.makeStream(of: Progress.self, bufferingPolicy: .bufferingNewest(1))
        let isOver = state.withLock { state in
            state.watchers.append(watcher)
            if state.hasChanged { watcher.yield(state.progress) }
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
            guard state.progress != before else { return }
            state.hasChanged = true
            for watcher in state.watchers { watcher.yield(state.progress) }
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
