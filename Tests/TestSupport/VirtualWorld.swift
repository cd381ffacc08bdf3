import LinuxPrimitives

/// A thread of its own in which asynchronous code runs, with time that jumps to the next sleeper as soon as nothing is left
/// to run: the same run each time, and an hour takes a moment.
package final class VirtualWorld: TaskExecutor, Clock {
    package struct Instant: InstantProtocol {
        package var offset: Swift.Duration

        /// - Parameter offset: since the beginning.
        package init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    fileprivate struct Sleeper {
        let deadline: Swift.Duration
        let continuation: UnsafeContinuation<Void, any Error>
    }

    fileprivate struct State {
        var now = Swift.Duration.zero
        var jobs: [UnownedJob] = []
        var next = 0
        var sleepers: [UInt64: Sleeper] = [:]
        /// When somebody is due, and who; a heap would be quicker, and is not needed.
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

    /// Resumed with an error, not throwing one: the testing library takes a backtrace of whatever is thrown.
    package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let isOver: Bool = state.withLock { state in
                    guard deadline.offset > state.now else { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline.offset, continuation: continuation)
                    state.insertDue(deadline.offset, id)
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
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Runs `body`, and whatever it begins, to its end.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let result = Locked<Value?>(nil)
        Task(executorPreference: self) {
            let value = await body()
            result.withLock { $0 = value }
        }
        while true {
            drain()
            if let value = result.withLock({ $0 }) { return value }
            guard let due = state.withLock({ $0.advance() }) else { fatalError("everybody waits for nothing") }
            due.resume()
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
    /// Latest first, and of equals the youngest.
    fileprivate mutating func insertDue(_ deadline: Duration, _ id: UInt64) {
        var low = 0
        var high = dues.count
        while low < high {
            let middle = (low + high) / 2
            if dues[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        dues.insert((deadline, id), at: low)
    }

    /// Goes on to the first sleeper that has not left.
    fileprivate mutating func advance() -> UnsafeContinuation<Void, any Error>? {
        while let due = dues.popLast() {
            guard let sleeper = sleepers.removeValue(forKey: due.id) else { continue }
            now = max(now, due.deadline)
            return sleeper.continuation
        }
        return nil
    }
}

/// Fails without a `throw`, see ``VirtualWorld/sleep(until:tolerance:)``.
package func fail(with error: any Error) async throws -> Never {
    try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
        continuation.resume(throwing: error)
    }
    fatalError("resumed without an error")
}
