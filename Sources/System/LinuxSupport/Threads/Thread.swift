import CLinux
import Dispatch
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
    /// True if the caller runs in a task. Then the thread belongs to all tasks and must not be blocked for long.
    package static var exists: Bool { withUnsafeCurrentTask { $0 != nil } }
}

/// Runs the jobs of tasks one after the other, on a thread that exists only while there are jobs.
///
/// Tasks without a preference run on the global queues of Dispatch. From the first of them on, a timer of Dispatch's wakes the process
/// every second, as long as it lives, to see whether these queues have enough threads. A queue like this one has no such timer, so a
/// process whose tasks all run on such queues sleeps while nothing happens.
///
/// Child tasks inherit the preference; `Task { }` does not: `Task(executorPreference:)`. A task must not block until another one of the
/// same queue has gone on.
///
/// Source: SE-0417; `_dispatch_workq_monitor_pools` in libdispatch's `src/event/workqueue.c`.
package final class TaskQueue: TaskExecutor {
    private let queue: DispatchQueue

    /// - Parameter label: What its thread is called while it works.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// Something under way that ends when it is cancelled or let go.
package final class Cancellation: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends it; a second call does nothing.
    package func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

/// An action that runs at most once, and never after it was cancelled.
package final class OneShot: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    /// True if the action has run or was cancelled.
    package var isOver: Bool { action.withLock { $0 == nil } }

    package func run() {
        take()?()
    }

    package func cancel() {
        _ = take()
    }

    private func take() -> (@Sendable () -> Void)? {
        action.withLock { action in
            defer { action = nil }
            return action
        }
    }
}

/// A gate that opens once, for threads that may wait a bounded time for it.
///
/// C counterpart: `pthread_cond_timedwait(3)` on the monotonic clock.
package final class Latch: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isOpen = false

    package init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Lets every waiting thread go on, now and later.
    package func open() {
        pthread_mutex_lock(mutex)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the calling thread until the latch opens or `limit` has passed, and says whether it opened.
    package func wait(atMost limit: Duration) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if isOpen || limit <= .zero { return isOpen }
        var deadline = (SystemClock.monotonic + limit).timespec
        while !isOpen {
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
        }
        return isOpen
    }
}

/// Wakes a thread that waits for descriptors, now and every later time it waits: it is never reset, so it is for one thread that is
/// to end.
///
/// C counterpart: `eventfd(2)`.
package struct Wakeup: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        descriptor = Descriptor(owning: number)
    }

    /// What becomes readable.
    package var number: CInt { descriptor.number }

    package func wake() {
        eventfd_write(number, 1)
    }
}
