public import Glibc

/// A value with a lock that protects all access. Copies refer to the same value.
///
/// It replaces `Synchronization.Mutex`, for which Thread Sanitizer reports false positives under contention. The lock
/// is not recursive. A closure must not call code of others, such as a listener, or release objects with such code.
///
/// The type is public only because bodies of public functions alone can be inlined into other modules. No product
/// exposes it.
///
/// C counterpart: `pthread_mutex_lock(3)`.
public struct Locked<Value: ~Copyable>: @unchecked Sendable {
    /// Lock and value in one allocation, because there may be very many of them.
    @usableFromInline final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        @inlinable deinit {
            withUnsafeMutablePointers { mutex, value in
                pthread_mutex_destroy(mutex)
                _ = value.deinitialize(count: 1)
            }
        }
    }

    @usableFromInline let storage: ManagedBuffer<pthread_mutex_t, Value>

    /// Creates a locked value.
    @inlinable
    public init(_ value: consuming sending Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        storage.withUnsafeMutablePointerToHeader { _ = pthread_mutex_init($0, nil) }
        storage.withUnsafeMutablePointerToElements { $0 }.initialize(to: value)
    }

    /// Runs `body` with exclusive access. Other threads block.
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
