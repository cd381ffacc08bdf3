import LinuxSupport

/// Work that is done once, from `start()` or from the first wait for it on, for all that wait for it.
///
/// The last one who leaves before the end cancels it, and so does `cancel()`. A cancellation wins over whatever comes after it.
final class Exchange<Value: Sendable>: Sendable {
    private enum Phase {
        case unbegun
        case running(Task<Void, Never>?)
        case over(Value)
    }

    private struct State {
        var phase = Phase.unbegun
        var waiting: [Int: CheckedContinuation<Value, Never>] = [:]
        /// Who left before it had begun to wait.
        var gone: Set<Int> = []
        var lastNumber = 0
        var isCancelled = false
    }

    private enum Step {
        case resume(Value)
        case leave
        case begin
        case wait
    }

    private let state = Locked(State())
    private let work: @Sendable () async -> Value
    private let cancelled: Value
    private let endsWithWork: Bool

    /// - Parameters:
    ///   - cancelled: What comes of it when it is cancelled.
    ///   - endsWithWork: Whether it ends only when the work has, with what the work says, also when it is cancelled: for work that
    ///     leaves something behind.
    ///   - work: Does it.
    init(cancelled: Value, endsWithWork: Bool = false, work: @escaping @Sendable () async -> Value) {
        self.cancelled = cancelled
        self.endsWithWork = endsWithWork
        self.work = work
    }

    /// What came of it; nil before the end.
    var result: Value? {
        state.withLock { state in if case .over(let value) = state.phase { value } else { nil } }
    }

    /// How many wait for it.
    var waiters: Int { state.withLock { $0.waiting.count } }

    /// Whether it was begun.
    var hasBegun: Bool { state.withLock { state in if case .unbegun = state.phase { false } else { true } } }

    /// Begins it, if that was not done.
    func start() {
        let isFirst = state.withLock { state in
            guard case .unbegun = state.phase else { return false }
            state.phase = .running(nil)
            return true
        }
        if isFirst { begin() }
    }

    /// Waits for its end; not any longer than the task lives.
    ///
    /// - Parameter starts: Whether it is begun, if that was not done.
    func value(starts: Bool = true) async -> Value {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { join(number, starts: starts, $0) }
        } onCancel: {
            leave(number)
        }
    }

    /// Ends it, if it has not ended.
    func cancel() {
        let (task, waiting) = state.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Value, Never>]) in
            state.isCancelled = true
            if endsWithWork, case .running(let task) = state.phase { return (task, []) }
            return end(&state, with: cancelled)
        }
        task?.cancel()
        for continuation in waiting { continuation.resume(returning: cancelled) }
    }

    private func join(_ number: Int, starts: Bool, _ continuation: CheckedContinuation<Value, Never>) {
        let step: Step = state.withLock { state in
            if case .over(let value) = state.phase { return .resume(value) }
            if state.gone.remove(number) != nil { return .leave }
            state.waiting[number] = continuation
            guard starts, case .unbegun = state.phase else { return .wait }
            state.phase = .running(nil)
            return .begin
        }
        switch step {
        case .wait: break
        case .resume(let value): continuation.resume(returning: value)
        case .leave:
            continuation.resume(returning: cancelled)
            cancelIfDeserted()
        case .begin: begin()
        }
    }

    private func leave(_ number: Int) {
        let (continuation, isDeserted) = state.withLock { state -> (CheckedContinuation<Value, Never>?, Bool) in
            if state.waiting[number] == nil { state.gone.insert(number) }
            let isDeserted = state.waiting[number] != nil && state.waiting.count == 1
            // The last one waits until the work has ended.
            if isDeserted, endsWithWork { return (nil, true) }
            return (state.waiting.removeValue(forKey: number), isDeserted)
        }
        if isDeserted { cancel() }
        continuation?.resume(returning: cancelled)
    }

    private func cancelIfDeserted() {
        if state.withLock({ $0.waiting.isEmpty }) { cancel() }
    }

    private func begin() {
        let task = Task {
            let value = await work()
            let (_, waiting) = state.withLock { end(&$0, with: value) }
            for continuation in waiting { continuation.resume(returning: value) }
        }
        let isOver = state.withLock { state in
            if case .running = state.phase { state.phase = .running(task) }
            return state.isCancelled
        }
        // It was cancelled before anybody knew the task.
        if isOver { task.cancel() }
    }

    /// Returns what was doing it, and who waits.
    private func end(
        _ state: inout State,
        with value: Value
    ) -> (Task<Void, Never>?, [CheckedContinuation<Value, Never>]) {
        let task: Task<Void, Never>?
        switch state.phase {
        case .over: return (nil, [])
        case .unbegun: task = nil
        case .running(let running): task = running
        }
        defer { state.waiting = [:] }
        state.phase = .over(value)
        return (task, Array(state.waiting.values))
    }
}

/// How much of a body was handed to the connection: what the server has of it, only its answer tells.
public struct UploadProgress: Hashable, Sendable {
    /// How many bytes were handed over. It becomes less where the body is sent again.
    public internal(set) var completed: Int64
    /// How many the whole body has; nil where it cannot be read.
    public let total: Int64?
    /// Whether nothing is sent until the network is back.
    public internal(set) var isWaitingForNetwork = false
}

/// What is handed over of a body.
typealias UploadWatch = ProgressFeed<UploadProgress>

extension UploadWatch {
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
}

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
