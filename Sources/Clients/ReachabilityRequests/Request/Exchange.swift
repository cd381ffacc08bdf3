import LinuxSupport

/// Work that is done once for all tasks that wait for its result.
///
/// It is cancelled by `cancel()`, and when the last waiting task is cancelled. A cancellation has priority over a later result.
final class Exchange<Value: Sendable>: Sendable {
    private enum Phase {
        case notStarted
        case running(Task<Void, Never>?)
        case over(Value)
    }

    private struct State {
        var phase = Phase.notStarted
        var waiting: [Int: CheckedContinuation<Value, Never>] = [:]
        /// Tasks that were cancelled before they waited.
        var gone: Set<Int> = []
        var lastNumber = 0
        var isCancelled = false
    }

    private enum Step {
        case resume(Value)
        case leave
        case wait
    }

    typealias Work = @Sendable () async -> Value

    private let state = Locked(State())
    private let cancelled: Value
    private let endsWithWork: Bool

    /// Creates an exchange with this result if it is cancelled.
    ///
    /// - Parameter endsWithWork: True if a cancelled exchange ends with its work and has its result. Work that leaves a file requires it.
    init(cancelled: Value, endsWithWork: Bool = false) {
        self.cancelled = cancelled
        self.endsWithWork = endsWithWork
    }

    /// The result; nil before the end.
    var result: Value? {
        state.withLock { state in if case .over(let value) = state.phase { value } else { nil } }
    }

    /// A Boolean value that indicates whether it was cancelled. Work that must end itself may still have another result.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The number of waiting tasks.
    var waiters: Int { state.withLock { $0.waiting.count } }

    /// A Boolean value that indicates whether the work has begun.
    var hasBegun: Bool { state.withLock { state in if case .notStarted = state.phase { false } else { true } } }

    /// Begins the work, unless it has begun or ended.
    func start(_ work: @escaping Work, after: @escaping @Sendable () -> Void = {}) {
        let isFirst = state.withLock { state in
            guard case .notStarted = state.phase else { return false }
            state.phase = .running(nil)
            return true
        }
        if isFirst { begin(work, after) }
    }

    /// Waits for the result, unless the task is cancelled.
    func value() async -> Value {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { join(number, $0) }
        } onCancel: {
            leave(number)
        }
    }

    /// Cancels the work, unless it has ended.
    func cancel() {
        let (task, waiting) = state.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Value, Never>]) in
            state.isCancelled = true
            if endsWithWork, case .running(let task) = state.phase { return (task, []) }
            return end(&state, with: cancelled)
        }
        task?.cancel()
        for continuation in waiting { continuation.resume(returning: cancelled) }
    }

    private func join(_ number: Int, _ continuation: CheckedContinuation<Value, Never>) {
        let step: Step = state.withLock { state in
            if case .over(let value) = state.phase { return .resume(value) }
            if state.gone.remove(number) != nil { return .leave }
            state.waiting[number] = continuation
            return .wait
        }
        switch step {
        case .wait: break
        case .resume(let value): continuation.resume(returning: value)
        case .leave:
            continuation.resume(returning: cancelled)
            cancelIfUnused()
        }
    }

    private func leave(_ number: Int) {
        let (continuation, isLastWaiter) = state.withLock { state -> (CheckedContinuation<Value, Never>?, Bool) in
            if state.waiting[number] == nil { state.gone.insert(number) }
            let isLastWaiter = state.waiting[number] != nil && state.waiting.count == 1
            // The last task waits until the work has ended.
            if isLastWaiter, endsWithWork { return (nil, true) }
            return (state.waiting.removeValue(forKey: number), isLastWaiter)
        }
        if isLastWaiter { cancel() }
        continuation?.resume(returning: cancelled)
    }

    private func cancelIfUnused() {
        if state.withLock({ $0.waiting.isEmpty }) { cancel() }
    }

    private func begin(_ work: @escaping Work, _ after: @escaping @Sendable () -> Void) {
        let task = Task {
            let value = await work()
            let (_, waiting) = state.withLock { end(&$0, with: value) }
            after()
            for continuation in waiting { continuation.resume(returning: value) }
        }
        let isOver = state.withLock { state in
            if case .running = state.phase { state.phase = .running(task) }
            return state.isCancelled
        }
        // It was cancelled before the task was known.
        if isOver { task.cancel() }
    }

    /// Returns the task of the work, and the waiting tasks.
    private func end(
        _ state: inout State,
        with value: Value
    ) -> (Task<Void, Never>?, [CheckedContinuation<Value, Never>]) {
        let task: Task<Void, Never>?
        switch state.phase {
        case .over: return (nil, [])
        case .notStarted: task = nil
        case .running(let running): task = running
        }
        defer { state.waiting = [:] }
        state.phase = .over(value)
        return (task, Array(state.waiting.values))
    }
}

/// Holds the work of a request while it is suspended.
final class Gate: Sendable {
    private let state = Locked<(isShut: Bool, waiting: [AsyncStream<Void>.Continuation])>((false, []))

    /// Returns when the gate is open, or the task is cancelled.
    func pass() async {
        guard state.withLock({ $0.isShut }) else { return }
        let (openings, continuation) = AsyncStream.makeStream(of: Void.self)
        let isShut = state.withLock { state in
            if state.isShut { state.waiting.append(continuation) }
            return state.isShut
        }
        if isShut { for await _ in openings {} }
    }

    func shut() { state.withLock { $0.isShut = true } }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (false, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }
}
