import LinuxPrimitives

/// How much of a body was handed to the connection: what the server has of it, only its answer tells.
public struct UploadProgress: Hashable, Sendable {
    /// How many bytes were handed over. It becomes less where the body is sent again.
    public internal(set) var completed: Int64
    /// How many the whole body has; nil where it cannot be read.
    public let total: Int64?
    /// Whether nothing is sent until the network is back.
    public internal(set) var isWaitingForNetwork = false
}

/// Counts what is handed over, and tells those who watch.
final class UploadWatch: Sendable {
    private struct State {
        var progress: UploadProgress
        var watchers: [AsyncStream<UploadProgress>.Continuation] = []
        var isOver = false
    }

    private let state: Locked<State>

    init(total: Int64?) { state = Locked(State(progress: UploadProgress(completed: 0, total: total))) }

    var progress: AsyncStream<UploadProgress> {
        let (progress, watcher) = AsyncStream.makeStream(of: UploadProgress.self, bufferingPolicy: .bufferingNewest(1))
        let isOver = state.withLock { state in
            state.watchers.append(watcher)
            return state.isOver
        }
        if isOver { watcher.finish() }
        return progress
    }

    /// An attempt begins.
    func begin() {
        change { progress in
            progress.completed = 0
            progress.isWaitingForNetwork = false
        }
    }

    func count(_ bytes: Int) { change { $0.completed += Int64(bytes) } }

    /// An answer has begun. A body in memory was handed over as a whole.
    func end() { change { progress in if progress.completed == 0 { progress.completed = progress.total ?? 0 } } }

    /// Nothing is sent until the network is back.
    func wait() { change { $0.isWaitingForNetwork = true } }

    func finish() {
        let watchers = state.withLock { state in
            state.isOver = true
            return state.watchers
        }
        for watcher in watchers { watcher.finish() }
    }

    /// Told under the lock, so that it comes in order; nobody is told twice of the same.
    private func change(_ change: (inout UploadProgress) -> Void) {
        state.withLock { state in
            let before = state.progress
            change(&state.progress)
            if state.progress != before { for watcher in state.watchers { watcher.yield(state.progress) } }
        }
    }
}
