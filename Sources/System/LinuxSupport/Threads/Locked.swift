public import Glibc

/// A value that is only ever touched under its own lock. Copies are references to the same.
///
/// It stands where `Synchronization.Mutex` would, which Thread Sanitizer reports falsely under contention. The lock is
/// not recursive; a closure that runs foreign code (a listener, a release) belongs outside it.
///
/// Public, although no product shows it, because only the bodies of public functions are compiled into other modules.
///
/// C counterpart: `pthread_mutex_lock(3)`.
public struct Locked<Value: ~Copyable>: @unchecked Sendable {
    /// Lock and value in one piece of memory, for there may be very many.
    @usableFromInline final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        @inlinable deinit {
            withUnsafeMutablePointers { mutex, value in
                pthread_mutex_destroy(mutex)
                _ = value.deinitialize(count: 1)
            }
        }
    }

    @usableFromInline let storage: ManagedBuffer<pthread_mutex_t, Value>

    /// Keeps a value from now on.
    public init(_ value: consuming sending Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        storage.withUnsafeMutablePointerToHeader { _ = pthread_mutex_init($0, nil) }
        storage.withUnsafeMutablePointerToElements { $0 }.initialize(to: value)
    }

    /// Runs `body` with exclusive access. Other threads wait.
    @inlinable @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            withExtendedLifetime(storage) {}
        }
        return try body(&value.pointee)
    }
}
