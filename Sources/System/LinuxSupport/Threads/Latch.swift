import CLinux
import Glibc

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
