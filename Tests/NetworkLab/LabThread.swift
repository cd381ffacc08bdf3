internal import CNetworkLab
import Glibc

/// Threads of our own: a thread that joins a namespace or waits must be neither a Dispatch nor a cooperative one.
package enum LabThread {
    /// Runs the body on a new thread and waits for it. Nothing outlives the call, so the body may capture anything.
    package static func run<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            let result = Box<Result<Value, any Error>>()
            let thread = try start { result.value = Result { try body() } }
            pthread_join(thread, nil)
            guard let value = result.value else { throw LabError("the thread left no result") }
            return try value.get()
        }
    }

    /// Runs the body on a new thread; the caller's task waits, its thread does not.
    package static func detached<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                pthread_detach(try start { continuation.resume(with: Result { try body() }) })
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// The same on a thread without a capability, a number of capabilities(7); threads it starts have it neither.
    package static func run<Value>(withoutCapability capability: CInt, _ body: () throws -> Value) throws -> Value {
        try run {
            try check("capset", lab_drop_capability(capability))
            return try body()
        }
    }

    /// Makes the calling thread, which must be about to end or belong to nobody else, one of the user 65534.
    package static func becomeNobody() throws {
        try check("setresuid", lab_become_nobody())
    }

    /// Whether that is possible here: not in a user namespace with a single user.
    package static var canBecomeNobody: Bool {
        (try? run { try becomeNobody() }) != nil
    }

    /// Leaves the calling thread, which must belong to nobody else, with so many descriptors to open, at most 64.
    package static func leaveDescriptors(_ count: CInt) throws {
        try check("unshare", lab_leave_descriptors(count))
    }

    /// Starts a thread that somebody must join or detach.
    static func start(_ body: @escaping () -> Void) throws -> pthread_t {
        let work = Box<() -> Void>()
        work.value = body
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Box<() -> Void>>.fromOpaque(context).takeRetainedValue().value?()
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        guard code == 0 else { throw LabError.system("pthread_create", code) }
        return thread
    }

    private final class Box<Value> {
        var value: Value?
    }
}
