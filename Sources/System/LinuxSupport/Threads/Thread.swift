import CLinux
import Dispatch
import Glibc

/// Threads for work that must not run on a Dispatch or cooperative thread. Such work blocks in the resolver, or moves
/// the thread to another network namespace, in which a shared thread would remain.
///
/// C counterpart: `pthread_create(3)`, `pthread_join(3)`.
package enum Thread {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread with all signals blocked, so that signal handlers keep running on the
    /// program's own threads.
    package static func detach(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try start(body))
    }

    /// Runs `body` on a new thread, and blocks until it has returned.
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

/// The task of the calling function.
package enum CurrentTask {
    /// True if the caller runs in a task. Its thread is then shared by all tasks and must not be blocked for long.
    package static var exists: Bool { withUnsafeCurrentTask { $0 != nil } }
}

/// A serial task executor with a thread that exists only while there are jobs.
///
/// Tasks without an executor preference run on the global queues of Dispatch. After the first such task, a timer of
/// Dispatch wakes the process every second to check whether these queues have enough threads. This queue has no such
/// timer. A process whose tasks all run on such queues therefore sleeps while there is no work.
///
/// Child tasks inherit the preference. `Task { }` does not, so use `Task(executorPreference:)`. A task must not block
/// until another task of the same queue has continued.
///
/// Source: SE-0417; `_dispatch_workq_monitor_pools` in libdispatch's `src/event/workqueue.c`.
package final class TaskQueue: TaskExecutor {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// A handle of an operation. The operation ends when the handle is cancelled or released. Thread-safe.
package final class Cancellation: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends the operation. A second call has no effect.
    package func cancel() {
        let action = action.withLock { $0.take() }
        action?()
    }
}

/// An action that runs at most once, and never after it was cancelled. Thread-safe.
package final class OneShot: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    /// True if the action has run or was cancelled.
    package var isOver: Bool { action.withLock { $0 == nil } }

    package func run() {
        let action = action.withLock { $0.take() }
        action?()
    }

    package func cancel() {
        _ = action.withLock { $0.take() }
    }
}

/// A gate that opens once. Threads can wait for it with a timeout.
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

    /// Opens the latch, and wakes all threads that wait now or later.
    package func open() {
        pthread_mutex_lock(mutex)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the calling thread until the latch opens or `limit` has passed. Returns whether the latch is open.
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

/// An event descriptor that interrupts a thread that waits for descriptors. Until it is cleared it interrupts every later
/// wait too. Thread-safe.
///
/// C counterpart: `eventfd(2)`.
package final class Wakeup: Sendable {
    private let descriptor: Descriptor

    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        descriptor = Descriptor(owning: number)
    }

    /// The descriptor, which becomes readable.
    package var number: CInt { descriptor.number }

    package func wake() {
        eventfd_write(number, 1)
    }

    /// Makes the descriptor unreadable until the next ``wake()``.
    package func clear() {
        var value: eventfd_t = 0
        eventfd_read(number, &value)
    }
}
