import LinuxSupport
public import Logging
public import ReachabilityRetry

/// A queue of HTTP requests that survives the process. The requests are kept in a file until their server has accepted
/// them.
///
/// ```swift
/// let outbox = try await Outbox(file: "/var/lib/my-daemon/outbox.sqlite")
/// try await outbox.enqueue(request, dedupeKey: "order-4711", expiry: .seconds(3600))
/// try await outbox.run(sender: sender)    // in a separate task: sends until it is cancelled
/// ```
///
/// A request is on the disk when ``enqueue(_:dedupeKey:priority:expiry:)`` returns. It is sent at least once, each time
/// with the same `Idempotency-Key`. A server that supports the key executes it exactly once, even if processes are
/// killed at any time. The requests to an origin are sent one at a time, by priority and then by age.
///
/// Thread-safe. Any number of processes may add requests to one file. Only one process at a time sends.
public final class Outbox: Sendable {
    let store: OutboxStore

    /// The file with the requests.
    public var file: String { store.file }

    /// The options of the outbox.
    public var options: OutboxOptions { store.options }

    /// Opens a file, or creates it with mode 0600. The files with the suffixes `-wal`, `-shm` and `.lock` beside it
    /// belong to it. The file must be on a local file system, because SQLite's write-ahead log requires that.
    ///
    /// - Throws: ``OutboxError``. A corrupt outbox is renamed, and the error contains the new name. Further attempts to
    ///   open it fail until it is restored, or ``OutboxOptions/replacesCorruptFile`` is set. A file that is not an
    ///   outbox is not changed, even if it is empty.
    public init(file: String, options: OutboxOptions = OutboxOptions()) async throws(OutboxError) {
        store = try await OutboxStore.open(file: file, options: options)
    }

    /// Adds a request. It is on the disk when this function returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - dedupeKey: A name for the effect of the request. While a request with the same name waits, and for
    ///     ``OutboxOptions/dedupeWindow`` after its delivery, further ones are not added. After a crash, all requests
    ///     may therefore be added again.
    ///   - priority: Requests of a higher priority are sent first.
    ///   - expiry: The time that the request may wait, by the system's clock, before it is deleted. If nil,
    ///     ``OutboxOptions/defaultExpiry``.
    /// - Throws: ``OutboxError``. Nothing was stored then. An expiry that is not positive makes the request invalid.
    @discardableResult
    public func enqueue(
        _ request: OutboxRequest,
        dedupeKey: String? = nil,
        priority: Int = 0,
        expiry: Duration? = nil
    ) async throws(OutboxError) -> OutboxAddition {
        if let expiry, expiry <= .zero { throw .invalidRequest("the expiry \(expiry) is not positive") }
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
            options.logger?.info("request stored", metadata: ["request": "\(entry)"])
            FileChangeSignal.send(store.lockFile)
        }
        return addition
    }

    /// Returns the waiting requests of a file, in the order in which they are sent. Changes nothing, and creates no
    /// other file.
    ///
    /// - Throws: ``OutboxError``. A corrupt file is not renamed.
    public static func entries(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { try OutboxStore.entries($0, at: .system) }
    }

    /// Returns the waiting requests of a file, followed by its dead letters, each in their order, from one snapshot.
    /// Changes nothing, and creates no other file.
    ///
    /// - Throws: ``OutboxError``. A corrupt file is not renamed.
    public static func allEntries(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { db in
            try OutboxStore.entries(db, at: .system) + OutboxStore.deadLetters(db)
        }
    }

    /// Returns the dead letters of a file, the oldest first. Changes nothing, and creates no other file.
    ///
    /// - Throws: ``OutboxError``. A corrupt file is not renamed.
    public static func deadLetters(inFile file: String) async throws(OutboxError) -> [OutboxEntry] {
        try await OutboxStore.inspect(at: file) { try OutboxStore.deadLetters($0) }
    }

    /// Returns the dead letters, the oldest first. They are kept until they are requeued or dropped.
    public func deadLetters() async throws(OutboxError) -> [OutboxEntry] { try await store.deadLetters() }

    /// Returns a dead letter to the queue. It keeps its number, its `Idempotency-Key` and its priority. Its attempts
    /// are reset, and its time to expire starts again. Returns whether it existed.
    ///
    /// - Throws: ``OutboxError``; ``OutboxError/invalidRequest(_:)`` if a request with its dedupe key waits.
    @discardableResult
    public func requeue(_ id: OutboxEntry.ID) async throws(OutboxError) -> Bool {
        guard try await store.requeue(id) else { return false }
        FileChangeSignal.send(store.lockFile)
        return true
    }

    /// Returns the waiting requests in the order in which they are sent.
    public func entries() async throws(OutboxError) -> [OutboxEntry] { try await store.entries() }

    /// Deletes a request or a dead letter. Returns whether it existed. A request that is being sent may still arrive.
    @discardableResult
    public func drop(_ id: OutboxEntry.ID) async throws(OutboxError) -> Bool { try await store.drop(id) }

    /// Deletes all requests except dead letters. Returns their number.
    @discardableResult
    public func dropAll() async throws(OutboxError) -> Int { try await store.dropAll() }

    /// Closes the file. Further calls on the outbox fail. The file is also closed when the outbox is deallocated. A
    /// process that ends before that may leave the write-ahead log, which the next open reads.
    public func close() async throws(OutboxError) { try await store.close() }

    /// Returns 128 random bits as 32 hexadecimal digits.
    private static func makeKey() -> String {
        UInt128.random(in: .min ... .max).hexadecimal
    }
}

extension Outbox {
    /// Sends the stored requests, and those added meanwhile, until the task is cancelled. Then the requests in progress
    /// may finish for ``OutboxOptions/drainLimit``, and the function returns. No task remains.
    ///
    /// Only one call at a time sends. Other calls on the same file, in any process, wait until it ends. The kernel
    /// notifies them, even if the process is killed. A request that was in progress then is sent again with the same
    /// key.
    ///
    /// - Parameters:
    ///   - sender: Sends the requests. It is called concurrently for different origins, and sequentially for each
    ///     origin.
    ///   - coordinator: The state shared with other requests: the reachability of hosts and the time of the next
    ///     attempt. Shutting it down ends this function too.
    ///   - report: Called after each event, sequentially for each host. It must return quickly.
    /// - Throws: ``OutboxError`` if the file can no longer be read or written. A request that was delivered but could
    ///   not be recorded is sent again with the same key.
    public func run(
        sender: some OutboxSender,
        coordinator: RetryCoordinator = .shared,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        let lock = try store.openLock()
        let signal = FileChangeSignal(store.lockFile)
        defer { signal?.cancel() }
        guard try await waitToSend(with: lock, signal) else { return }
        defer { withExtendedLifetime(lock) {} }
        try await store.returnClaimed()
        let work = Dispatcher(store: store, sender: sender, coordinator: coordinator, report: report)
        if let error = await work.run(signal) { throw error }
    }

    /// Waits until no other process sends. Returns false if the task was cancelled. The kernel notifies shortly before
    /// it releases the lock of a killed process. Therefore the lock is tried again after a pause.
    private func waitToSend(
        with lock: borrowing FileLock,
        _ signal: FileChangeSignal?
    ) async throws(OutboxError) -> Bool {
        while !Task.isCancelled {
            if try store.tryToSend(with: lock) { return true }
            if let signal {
                for await _ in signal.signals { break }
                if try store.tryToSend(with: lock) { return true }
            }
            await options.clock.pause(max(options.pollInterval, .milliseconds(1)))
        }
        return false
    }

    /// Sends once each request that can be sent now. Sends nothing to hosts that are not reachable, and nothing further
    /// to a host that did not accept a request.
    ///
    /// - Returns: The number of remaining requests.
    /// - Throws: ``OutboxError/alreadySending(file:)`` if another outbox sends; another ``OutboxError`` if the file
    ///   cannot be read or written.
    @discardableResult
    public func flush(
        sender: some OutboxSender,
        coordinator: RetryCoordinator = .shared,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) -> Int {
        guard let lock = try await store.lockForSending() else { throw .alreadySending(file: file) }
        defer { withExtendedLifetime(lock) {} }
        try await store.returnClaimed()
        let work = Dispatcher(store: store, sender: sender, coordinator: coordinator, report: report)
        if let error = await work.flush() { throw error }
        return try await store.entries().count
    }
}

/// The error of an outbox.
public enum OutboxError: Error, Hashable, Sendable {
    /// The request is invalid. The text contains no secrets.
    case invalidRequest(String)
    /// The outbox is full, and no request may be deleted. `limit` describes the limit.
    case full(file: String, limit: String)
    /// The disk is full, or a quota or a limit of the file size is reached. Nothing was changed.
    case diskFull(file: String)
    /// The file is damaged. `keptAs` is the name to which it was renamed with the files that SQLite keeps beside it. It
    /// is nil if the file was not renamed, because it was only read, the damage was found during use, or a process uses
    /// it to send.
    case corrupt(file: String, keptAs: String?)
    /// The file is not an outbox, because it lacks the header of one (`PRAGMA application_id` of an SQLite database).
    /// It was not changed.
    case foreignFile(String)
    /// A later version of this library has written the file. It was not changed.
    case newerFormat(String)
    /// The file cannot be opened or created. `cause` is the text of the system.
    case cannotOpen(file: String, cause: String)
    /// Another process, or another outbox of this process, sends the requests in the file.
    case alreadySending(file: String)
    /// Other processes kept the file locked for 30 seconds.
    case busy(file: String)
    /// Reading or writing failed. `cause` is the text of SQLite.
    case failed(file: String, cause: String)
}

extension OutboxError: CustomStringConvertible {
    /// One sentence with the action, the error and a remedy.
    public var description: String {
        switch self {
        case .invalidRequest(let text):
            "cannot store the request: \(text)"
        case .full(let file, let limit):
            "cannot store the request: the outbox \(file) is full (\(limit)); send or drop requests, or raise the limit"
        case .diskFull(let file):
            "cannot write to the outbox \(file): No space left on device; nothing was changed, free space and try again"
        case .corrupt(let file, let keptAs?):
            "cannot open the outbox \(file): it is corrupt and was renamed to \(keptAs); restore it, or allow a new outbox"
        case .corrupt(let file, nil):
            "cannot read the outbox \(file): it is corrupt and was not renamed; stop the processes that use it, then send"
        case .foreignFile(let file):
            "cannot open \(file): it is not an outbox, or its header is damaged; it was not changed, use another file"
        case .newerFormat(let file):
            "cannot open the outbox \(file): a later version has written it; use that version, or another file"
        case .cannotOpen(let file, let cause):
            "cannot open the outbox \(file): \(cause)"
        case .alreadySending(let file):
            "cannot send from the outbox \(file): another process is sending from it; wait for it, or stop it"
        case .busy(let file):
            "cannot use the outbox \(file): it is locked by other processes; try again"
        case .failed(let file, let cause):
            "cannot read or write the outbox \(file): \(cause)"
        }
    }
}

/// The options of an outbox. Every option has a default.
public struct OutboxOptions: Sendable {
    /// The action if a new request exceeds a limit.
    public enum WhenFull: String, Hashable, Sendable, CaseIterable {
        /// The request is refused with ``OutboxError/full(file:limit:)``. Stored requests stay.
        case refuse
        /// Dead letters are deleted first, then the requests of the lowest priority, the oldest first. A request that
        /// is being sent, or has a higher priority than the new one, is never deleted. If that does not suffice, the
        /// new request is refused and nothing is deleted. Each request is passed to ``OutboxOptions/report`` before it
        /// is deleted.
        case dropOldest
    }

    /// The maximum number of requests, including dead letters.
    public var maximumCount = 10_000
    /// The maximum number of bytes of all requests together (``OutboxRequest/size``). The file is slightly larger.
    public var maximumBytes = 64 << 20
    /// The action if a new request exceeds a limit.
    public var whenFull = WhenFull.refuse
    /// The time for which the dedupe key of a delivered request is kept. Adding the request again in that time has no
    /// effect. At most the newest 10,000 keys are kept.
    public var dedupeWindow: Duration = .seconds(86_400)
    /// The wait of an origin after a failure. It ends immediately when the host becomes reachable again.
    public var backoff = Backoff.standard
    /// The maximum pause that a server may request (Retry-After).
    public var maximumRetryAfter: Duration = .seconds(3600)
    /// The maximum number of attempts before a request becomes a dead letter. If nil, there is no limit, and the
    /// request blocks its origin until it is delivered. With the default backoff, 1000 attempts take about eight hours
    /// if the server responds with errors. A send that does not count as an attempt is not included
    /// (``OutboxResult/held(cause:)``).
    public var maximumAttempts: Int? = 1000
    /// The time that a request without an expiry may wait. The default is a week. If nil, there is no limit.
    public var defaultExpiry: Duration? = .seconds(604_800)
    /// Called for each request that is deleted because another one is added, before it is deleted. The events are
    /// ``OutboxEvent/expired(_:)`` and ``OutboxEvent/dropped(_:)``. Called on a thread of the outbox, which waits for
    /// it. It must return quickly.
    public var report: (@Sendable (OutboxEvent) -> Void)?
    /// The maximum time that a request in progress may continue after the outbox was cancelled.
    public var drainLimit: Duration = .seconds(10)
    /// The interval at which ``Outbox/run(sender:coordinator:report:)`` checks for requests from other processes if no
    /// inotify watch is available (`/proc/sys/fs/inotify`). With a watch, no polling takes place.
    public var pollInterval: Duration = .seconds(1)
    /// The maximum number of requests that are sent at the same time, each to a different origin.
    public var maximumConcurrentHosts = 8
    /// A Boolean value that indicates whether a new file is created if the existing one is corrupt and was renamed.
    public var replacesCorruptFile = false
    /// The log. Delivered requests have the level `info`, deleted ones `warning`, and attempts `debug`. It contains no
    /// secrets.
    public var logger: Logger?
    /// The clock that measures waits.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Returns the time since 1970-01-01T00:00:00Z (CLOCK_REALTIME), because stored times must be valid after a restart
    /// of the machine.
    public var realTime: @Sendable () -> Duration = { SystemClock.real }

    /// Creates options with their default values.
    public init() {}
}
