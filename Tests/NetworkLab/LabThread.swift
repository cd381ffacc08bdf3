import CNetworkLab
import Glibc
import Synchronization

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

extension Duration {
    /// The default time limit of a wait in a test: long enough for a machine that is ten times slower, so that only an event that never
    /// comes exceeds it.
    package static var patience: Duration { .seconds(300) }
}

/// A moment by which something must have happened.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    package init(after duration: Duration) {
        instant = .now + duration
    }

    package var hasPassed: Bool { ContinuousClock.now >= instant }

    /// What is left, rounded up to milliseconds, as poll(2) wants it.
    package var milliseconds: CInt {
        let left = instant - .now
        guard left > .zero else { return 0 }
        return CInt(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Asks again and again until the condition holds. Blocks the thread. Whether it held in time.
    package func poll(every pause: Duration = .milliseconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
        while true {
            if try condition() { return true }
            if hasPassed { return false }
            LabThread.pause(pause)
        }
    }
}

/// Repeats the condition until it holds. Returns whether it held within the limit.
package func eventually(
    within limit: Duration = .patience,
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let deadline = Deadline(after: limit)
    while true {
        if try await condition() { return true }
        if deadline.hasPassed { return false }
        try await Task.sleep(for: pause)
    }
}

extension LabThread {
    /// Blocks the calling thread.
    package static func pause(_ duration: Duration) {
        let parts = duration.components
        usleep(UInt32(clamping: parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000))
    }
}

/// A step of building or using the laboratory that failed.
package struct LabError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The failure of a call that sets `errno`.
    package static func system(_ call: String, _ code: CInt = errno) -> LabError {
        LabError("\(call): \(String(cString: strerror(code)))")
    }
}

/// Returns the result of a C call, or throws what `errno` says when it is negative.
@discardableResult
package func check(_ call: String, _ result: CInt) throws -> CInt {
    guard result >= 0 else { throw LabError.system(call) }
    return result
}

/// Owns a file descriptor: closed once, by `close()` or with its last owner.
package final class LabDescriptor: Sendable {
    private let storage: Atomic<CInt>

    package init(_ descriptor: CInt) {
        storage = Atomic(descriptor)
    }

    /// The number of the descriptor, -1 once it is closed.
    package var number: CInt { storage.load(ordering: .acquiring) }

    package func close() {
        let descriptor = storage.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 {
            Glibc.close(descriptor)
        }
    }

    deinit {
        close()
    }
}

/// Tells a thread that polls descriptors to end. `requested` becomes ready (hung up) when it is to.
final class StopSignal: Sendable {
    let requested: LabDescriptor
    private let holder: LabDescriptor

    init() throws {
        var ends: [CInt] = [-1, -1]
        try check("pipe2", lab_pipe(&ends))
        requested = LabDescriptor(ends[0])
        holder = LabDescriptor(ends[1])
    }

    /// Doing it twice does nothing.
    func request() {
        holder.close()
    }
}

/// Lets tasks in while there are places; the others wait in line without holding a thread.
package actor ConcurrencyGate {
    private let places: Int
    private var free: Int
    private var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    package init(_ places: Int) {
        self.places = places
        free = places
    }

    /// Runs the body when there is a place for it, or, when it wants to be alone, when all others have left.
    package func run<Value: Sendable>(
        alone: Bool = false,
        _ body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        let wanted = alone ? places : 1
        await enter(wanted)
        defer { leave(wanted) }
        return try await body()
    }

    private func enter(_ wanted: Int) async {
        if waiting.isEmpty, free >= wanted {
            free -= wanted
        } else {
            await withCheckedContinuation { waiting.append((wanted, $0)) }
        }
    }

    private func leave(_ wanted: Int) {
        free += wanted
        while let next = waiting.first, free >= next.places {
            free -= next.places
            waiting.removeFirst().continuation.resume()
        }
    }
}
