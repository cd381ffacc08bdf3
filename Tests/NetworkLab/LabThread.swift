import CNetworkLab
import Glibc
import Synchronization

/// Separate threads. A thread that enters a namespace or blocks may not belong to Dispatch or to Swift's tasks.
package enum LabThread {
    /// Runs the body on a new thread and waits for it. The body may capture any value, because it ends before the
    /// call returns.
    package static func run<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            let result = Box<Result<Value, any Error>>()
            let thread = try start { result.value = Result { try body() } }
            pthread_join(thread, nil)
            guard let value = result.value else { throw LabError("the thread left no result") }
            return try value.get()
        }
    }

    /// Runs the body on a new thread. The caller's task is suspended without blocking its thread.
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

    /// Runs the body on a new thread without a capability (its number in capabilities(7)). Threads that it starts
    /// lack the capability, too.
    package static func run<Value>(withoutCapability capability: CInt, _ body: () throws -> Value) throws -> Value {
        try run {
            try check("capset", lab_drop_capability(capability))
            return try body()
        }
    }

    /// Changes the user of the calling thread to 65534. The thread must be a separate one or about to end.
    package static func becomeNobody() throws {
        try check("setresuid", lab_become_nobody())
    }

    /// Whether the user can be changed. This is not possible in a user namespace with a single user.
    package static var canBecomeNobody: Bool {
        (try? run { try becomeNobody() }) != nil
    }

    /// Limits the number of descriptors that the calling thread can still open, to at most 64. The thread must be a
    /// separate one.
    package static func leaveDescriptors(_ count: CInt) throws {
        try check("unshare", lab_leave_descriptors(count))
    }

    /// Starts a thread, which the caller must join or detach.
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
    /// The default time limit of a wait in a test. It is sufficient for a machine that is ten times slower, so only a
    /// missing event exceeds it.
    package static var patience: Duration { .seconds(300) }
}

/// The time by which an event must have occurred.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    package init(after duration: Duration) {
        instant = .now + duration
    }

    package var hasPassed: Bool { ContinuousClock.now >= instant }

    /// The remaining time, rounded up to milliseconds, for poll(2).
    package var milliseconds: CInt {
        let left = instant - .now
        guard left > .zero else { return 0 }
        return CInt(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Evaluates the condition repeatedly until it holds. Returns whether it held in time. Blocks the thread.
    package func poll(every pause: Duration = .milliseconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
        while true {
            if try condition() { return true }
            if hasPassed { return false }
            LabThread.pause(pause)
        }
    }
}

/// Evaluates the condition repeatedly until it holds. Returns whether it held within the limit.
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

/// Waits until the condition holds. Throws an error if it does not hold within the limit.
package func waitUntil(
    within limit: Duration = .patience,
    every pause: Duration = .milliseconds(20),
    file: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    guard try await eventually(within: limit, every: pause, condition) else {
        throw LabError("\(file):\(line): the condition did not hold within \(limit)")
    }
}

extension LabThread {
    /// Blocks the calling thread.
    package static func pause(_ duration: Duration) {
        let parts = duration.components
        usleep(UInt32(clamping: parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000))
    }
}

/// The error of a failed step in the laboratory.
package struct LabError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Returns the error of a failed call that sets `errno`.
    package static func system(_ call: String, _ code: CInt = errno) -> LabError {
        LabError("\(call): \(String(cString: strerror(code)))")
    }
}

/// Returns the result of a C call. Throws the error in `errno` if the result is negative.
@discardableResult
package func check(_ call: String, _ result: CInt) throws -> CInt {
    guard result >= 0 else { throw LabError.system(call) }
    return result
}

/// The owner of a file descriptor, which is closed once by `close()` or with its last owner.
package final class LabDescriptor: Sendable {
    private let storage: Atomic<CInt>

    package init(_ descriptor: CInt) {
        storage = Atomic(descriptor)
    }

    /// The number of the descriptor; -1 after it was closed.
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

/// A signal for the end of a thread that polls descriptors. `requested` becomes ready (hung up) when the thread must
/// end.
final class StopSignal: Sendable {
    let requested: LabDescriptor
    private let holder: LabDescriptor

    init() throws {
        var ends: [CInt] = [-1, -1]
        try check("pipe2", lab_pipe(&ends))
        requested = LabDescriptor(ends[0])
        holder = LabDescriptor(ends[1])
    }

    /// Requests the end. Calling it twice has no effect.
    func request() {
        holder.close()
    }
}

/// A limit of concurrent tasks. Waiting tasks are queued without blocking a thread.
package actor ConcurrencyGate {
    private let places: Int
    private var free: Int
    private var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    package init(_ places: Int) {
        self.places = places
        free = places
    }

    /// Runs the body when the limit permits it. With `alone`, it runs when no other body is running.
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
