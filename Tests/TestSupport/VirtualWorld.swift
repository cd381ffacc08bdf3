import LinuxSupport

/// An executor that runs asynchronous code in one thread with simulated time. If no job is ready, the time advances
/// to the next sleeper. Each run is the same, and an hour takes only a moment.
package final class VirtualWorld: TaskExecutor, AlarmClock {
    package struct Instant: InstantProtocol {
        package var offset: Swift.Duration

        /// - Parameter offset: The time since the start.
        package init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    fileprivate struct Sleeper {
        let deadline: Swift.Duration
        /// Resumes the sleeper, with an error to throw if it was cancelled.
        let wake: @Sendable ((any Error)?) -> Void
    }

    fileprivate struct State {
        var now = Swift.Duration.zero
        var jobs: [UnownedJob] = []
        var next = 0
        var sleepers: [UInt64: Sleeper] = [:]
        /// The deadlines and sleepers. A heap would be faster, but is not needed.
        var dues: [(deadline: Swift.Duration, id: UInt64)] = []
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    package let minimumResolution = Swift.Duration.zero
    package var now: Instant { Instant(offset: state.withLock { $0.now }) }
    package var time: Swift.Duration { state.withLock { $0.now } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Sleeps until a time. An error is passed by resuming the continuation, because the testing library takes a
    /// backtrace of each thrown error.
    package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let isOver: Bool = state.withLock { state in
                    guard deadline.offset > state.now else { return true }
                    state.add(id, until: deadline.offset) { error in
                        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                    }
                    return false
                }
                if isOver { continuation.resume() }
                if Task.isCancelled { wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: UInt64) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
        sleeper?.wake(CancellationError())
    }

    package func ring(after delay: Swift.Duration, _ ring: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.lastID += 1
            state.add(state.lastID, until: state.now + max(.zero, delay)) { _ in ring() }
        }
    }

    /// Runs `body` and its tasks to the end.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let result = Locked<Value?>(nil)
        Task(executorPreference: self) {
            let value = await body()
            result.withLock { $0 = value }
        }
        while true {
            drain()
            if let value = result.withLock({ $0 }) { return value }
            guard let due = state.withLock({ $0.advance() }) else { fatalError("all tasks wait and no timer is set") }
            due(nil)
        }
    }

    private func drain() {
        while true {
            let job: UnownedJob? = state.withLock { state in
                guard state.next < state.jobs.count else {
                    state.jobs.removeAll(keepingCapacity: true)
                    state.next = 0
                    return nil
                }
                defer { state.next += 1 }
                return state.jobs[state.next]
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

extension VirtualWorld.State {
    fileprivate mutating func add(
        _ id: UInt64,
        until deadline: Duration,
        _ wake: @escaping @Sendable ((any Error)?) -> Void
    ) {
        sleepers[id] = VirtualWorld.Sleeper(deadline: deadline, wake: wake)
        insertDue(deadline, id)
    }

    /// Inserts a deadline. The latest is first, and among equal ones the most recently added.
    private mutating func insertDue(_ deadline: Duration, _ id: UInt64) {
        var low = 0
        var high = dues.count
        while low < high {
            let middle = (low + high) / 2
            if dues[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        dues.insert((deadline, id), at: low)
    }

    /// Advances to the first sleeper that was not cancelled.
    fileprivate mutating func advance() -> (@Sendable ((any Error)?) -> Void)? {
        while let due = dues.popLast() {
            guard let sleeper = sleepers.removeValue(forKey: due.id) else { continue }
            now = max(now, due.deadline)
            return sleeper.wake
        }
        return nil
    }
}

/// Throws an error without a `throw` statement, see ``VirtualWorld/sleep(until:tolerance:)``.
package func fail(with error: any Error) async throws -> Never {
    try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
        continuation.resume(throwing: error)
    }
    fatalError("resumed without an error")
}
