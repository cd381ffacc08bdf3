import LinuxSupport
import Logging
import ReachabilityRetry

/// Requests that survive the process: they are kept in a file until their server has taken them.
///
/// ```swift
/// let outbox = try await Outbox(file: "/var/lib/my-daemon/outbox.sqlite")
/// try await outbox.enqueue(request, dedupeKey: "order-4711", expiry: .seconds(3600))
/// try await outbox.run(sender: sender)    // in a task of its own: sends until cancelled
/// ```
///
/// A request is on the disk when ``enqueue(_:dedupeKey:priority:expiry:)`` returns. It is sent at least once, each time with
/// the same `Idempotency-Key`; a server that honours the key does it exactly once, whatever is killed when. Each origin's
/// requests are sent one after the other: by priority, then the first that came.
///
/// All of it may be used from any task. Any number of processes may put requests into one file; one at a time sends.
public final class Outbox: Sendable {
    let store: OutboxStore

    /// The file with the requests.
    public var file: String { store.file }

    /// How it keeps and sends.
    public var options: OutboxOptions { store.options }

    /// Opens a file, or makes it: of mode 0600, with `-wal`, `-shm` and `.lock` beside it. A file system of this machine is
    /// needed, for SQLite's log works on no other.
    ///
    /// - Throws: ``OutboxError``. An outbox that is corrupt is renamed, and the error names it; until somebody puts it back, or
    ///   asks for a new one by ``OutboxOptions/replacesCorruptFile``, opening is refused. A file that is there and is not
    ///   proven to be an outbox, even an empty one, is not touched.
    public init(file: String, options: OutboxOptions = OutboxOptions()) async throws(OutboxError) {
        store = try await OutboxStore.open(file: file, options: options)
    }

    /// Puts a request in. When this returns it is on the disk.
    ///
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - dedupeKey: A name of what the request does. Of requests with the same name only the first is kept, while it
    ///     waits and for ``OutboxOptions/dedupeWindow`` after it was delivered: after a crash all may be put in again.
    ///   - priority: The higher, the sooner.
    ///   - expiry: How long it may wait, by the system's clock, before it is thrown away; nil for
    ///     ``OutboxOptions/defaultExpiry``.
    /// - Throws: ``OutboxError``; nothing was stored then. An expiry that is not positive is an invalid request.
    @discardableResult
    public func enqueue(
        _ request: OutboxRequest,
        dedupeKey: String? = nil,
        priority: Int = 0,
        expiry: Duration? = nil
    ) async throws(OutboxError) -> OutboxAddition {
        if let expiry, expiry <= .zero { throw .invalidRequest("its expiry, \(expiry), is not longer than zero") }
        let new = NewRequest(
            request: request,
            origin: try request.check(),
            dedupeKey: dedupeKey,
            idempotencyKey: request.headers.value(of: OutboxRequest.idempotencyKeyHeader.lowercased())
                ?? Self.makeKey(),
            priority: priority,
            lifetime: expiry ?? options.defaultExpiry
        )
        let addition = try await store.add(new)
        if case .added(let entry) = addition {
            options.logger?.info("stored", metadata: ["request": "\(entry)"])
            FileBell.ring(store.lockFile)
        }
        return addition
    }

    /// What waits in a file, in the order it is to be sent in. Nothing is changed, and nothing is made beside the file.
    ///
    /// - Throws: ``OutboxError``. A file that is corrupt stays where it is.
    public static func entries(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { try OutboxStore.entries($0, at: .system) }
    }

    /// What waits in a file, and then its dead letters, each in its order, as they were at one moment. Nothing is changed, and nothing
    /// is made beside the file.
    ///
    /// - Throws: ``OutboxError``. A file that is corrupt stays where it is.
    public static func allEntries(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { db in
            try OutboxStore.entries(db, at: .system) + OutboxStore.deadLetters(db)
        }
    }

    /// What was given up in a file, the oldest first. Nothing is changed, and nothing is made beside the file.
    ///
    /// - Throws: ``OutboxError``. A file that is corrupt stays where it is.
    public static func deadLetters(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { try OutboxStore.deadLetters($0) }
    }

    /// What was given up, the oldest first: kept until it is put in again or dropped.
    public func deadLetters() async throws(OutboxError) -> [OutboxEntry] { try await store.deadLetters() }

    /// Puts a dead letter in again: it keeps its number, its `Idempotency-Key` and its priority, has no attempts, and may wait as long
    /// as it might before. Says whether it was there.
    ///
    /// - Throws: ``OutboxError``; an invalid request when another with its dedupe key waits.
    @discardableResult
    public func requeue(_ id: OutboxEntry.ID) async throws(OutboxError) -> Bool {
        guard try await store.requeue(id) else { return false }
        FileBell.ring(store.lockFile)
        return true
    }

    /// What waits, in the order it is to be sent in.
    public func entries() async throws(OutboxError) -> [OutboxEntry] { try await store.entries() }

    /// Deletes a request or a dead letter, and says whether it was there. One that is being sent may arrive all the same.
    @discardableResult
    public func drop(_ id: OutboxEntry.ID) async throws(OutboxError) -> Bool { try await store.drop(id) }

    /// Deletes all requests but the dead letters, and says how many there were.
    @discardableResult
    public func dropAll() async throws(OutboxError) -> Int { try await store.dropAll() }

    /// Closes the file; whatever is asked of the outbox afterwards fails. It is closed too when nobody holds the outbox any
    /// more, but a process that ends then may leave its log beside it, which the next that opens it reads.
    public func close() async throws(OutboxError) { try await store.close() }

    /// 128 random bits as 32 hexadecimal digits.
    private static func makeKey() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (part: UInt64) in
            let digits = String(part, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
