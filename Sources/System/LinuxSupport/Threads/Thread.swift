import Glibc

/// Threads of our own, for work that must not happen on a Dispatch or cooperative thread: blocking in the resolver,
/// and moving to another network namespace, which would stay behind on a shared thread.
///
/// C counterpart: `pthread_create(3)`, `pthread_join(3)`.
package enum Thread {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread with all signals blocked, so that the program's handlers stay where they were.
    package static func detach(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try start(body))
    }

    /// Runs `body` on a new thread and waits for it.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws(SystemError) -> Value {
        let result = Locked<Value?>(nil)
        let thread = try start {
            let value = body()
            result.withLock { $0 = value }
        }
        pthread_join(thread, nil)
        guard let value = result.withLock({ $0 }) else { throw .interrupted }
        return value
    }

    private static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) -> pthread_t {
        var thread = pthread_t()
        var every = sigset_t()
        var previous = sigset_t()
        sigfillset(&every)
        pthread_sigmask(SIG_SETMASK, &every, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            work.release()
            throw SystemError(rawValue: code)
        }
        return thread
    }
}

/// The task that the calling function runs in.
package enum CurrentTask {
    /// Whether there is one: then the thread belongs to all tasks, and nothing may wait on it for long.
    package static var exists: Bool { withUnsafeCurrentTask { $0 != nil } }
}
