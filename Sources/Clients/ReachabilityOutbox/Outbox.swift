import LinuxSupport
public import Logging
public import ReachabilityRetry

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
        UInt128.random(in: .min ... .max).hexadecimal
    }
}

extension Outbox {
    /// Sends what is in the outbox, and what is put in meanwhile, until the task is cancelled. Then it lets what is being sent
    /// come to its end, for ``OutboxOptions/drainLimit`` at most, and returns; no task of its own is left behind.
    ///
    /// One at a time sends: others that run on the same file, in whatever process, wait until that one ends, which the kernel
    /// tells even of one that is killed. What it was sending then is sent again, with the same key.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is called for several hosts at the same time, for each one after the other.
    ///   - coordinator: What is shared with other requests: it says whether a host is reachable and when it may be asked again. Ending it
    ///     ends this, too.
    ///   - report: Called after each event, one after the other for each host. Keep it short.
    /// - Throws: ``OutboxError`` when the file cannot be read or written any more. What was delivered and could not be
    ///   written down will be sent again, with the same key.
    public func run(
        sender: some OutboxSender,
        coordinator: RetryCoordinator = .shared,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        let lock = try store.openLock()
        let bell = FileBell(store.lockFile)
        defer { bell?.cancel() }
        guard try await waitToSend(with: lock, bell) else { return }
        defer { withExtendedLifetime(lock) {} }
        try await store.returnClaimed()
        let work = Dispatcher(store: store, sender: sender, coordinator: coordinator, report: report)
        if let error = await work.run(bell) { throw error }
    }

    /// Waits until nobody else sends. The kernel rings a moment before it takes the lock away from a process that was killed: so a second
    /// look follows each ring. Says whether to send, which is not so in a task that was cancelled.
    private func waitToSend(with lock: borrowing FileLock, _ bell: FileBell?) async throws(OutboxError) -> Bool {
        while !Task.isCancelled {
            if try store.tryToSend(with: lock) { return true }
            if let bell {
                for await _ in bell.rings { break }
                if try store.tryToSend(with: lock) { return true }
            }
            await options.clock.pause(max(options.pollInterval, .milliseconds(1)))
        }
        return false
    }

    /// Sends once what can be sent now: nothing to hosts that are not reachable, and nothing more to a host that did not take
    /// a request.
    ///
    /// - Returns: How many requests are left.
    /// - Throws: ``OutboxError/alreadySending(file:)`` when another outbox sends; ``OutboxError`` when the file cannot be read
    ///   or written.
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

/// Why an outbox cannot do what it was asked for.
public enum OutboxError: Error, Hashable, Sendable {
    /// The request has no valid form. The text has no secrets.
    case invalidRequest(String)
    /// There is no room for the request, and none may be made; `limit` says which limit it is.
    case full(file: String, limit: String)
    /// The disk is full, or a quota or limit of the file's size is reached. Nothing was changed.
    case diskFull(file: String)
    /// The file is damaged. It was set aside as `keptAs`, with what SQLite keeps beside it; nil when it lies where it was,
    /// because it was only read, was found to be so while in use, or because a process uses it to send.
    case corrupt(file: String, keptAs: String?)
    /// What lies there is no outbox: it has not the header of one (`PRAGMA application_id` of an SQLite database). It was not
    /// touched.
    case foreignFile(String)
    /// A later version of this library has written the file. It was not touched.
    case newerFormat(String)
    /// The file cannot be opened or made; `cause` is what the system said.
    case cannotOpen(file: String, cause: String)
    /// Another process, or another outbox of this one, is sending what is in the file.
    case alreadySending(file: String)
    /// Other processes kept the file locked for half a minute.
    case busy(file: String)
    /// Reading or writing failed; `cause` is what SQLite said.
    case failed(file: String, cause: String)
}

extension OutboxError: CustomStringConvertible {
    /// One sentence: what was tried, what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidRequest(let text):
            "cannot store the request: \(text)"
        case .full(let file, let limit):
            "the outbox \(file) is full (\(limit)): send or drop what is in it, or allow more"
        case .diskFull(let file):
            "cannot write to the outbox \(file): No space left on device: make room and try again, nothing was changed"
        case .corrupt(let file, let keptAs?):
            "the outbox \(file) is corrupt and was kept as \(keptAs): restore it, or ask for a new one to be begun"
        case .corrupt(let file, nil):
            "the outbox \(file) is corrupt and was left as it is: end the processes that use it, then send or add, which sets it aside"
        case .foreignFile(let file):
            "\(file) is not an outbox, or its header is damaged: it was left as it is; name another file, or move it away"
        case .newerFormat(let file):
            "the outbox \(file) was written by a later version: use that, or name another file"
        case .cannotOpen(let file, let cause):
            "cannot open the outbox \(file): \(cause)"
        case .alreadySending(let file):
            "another process is sending what is in the outbox \(file): leave it to that, or end it first"
        case .busy(let file):
            "the outbox \(file) is locked by other processes: try again"
        case .failed(let file, let cause):
            "cannot read or write the outbox \(file): \(cause)"
        }
    }
}

/// How an outbox keeps and sends. Every option has a default.
public struct OutboxOptions: Sendable {
    /// What happens to a request that does not fit.
    public enum WhenFull: String, Hashable, Sendable, CaseIterable {
        /// It is refused with ``OutboxError/full(file:limit:)``, and what is there stays.
        case refuse
        /// Dead letters make room, then requests of the lowest priority, the oldest first, but none that is being sent and none of
        /// a higher priority than the new one; when that is not enough, the new one is refused and all stay. Each is told to
        /// ``OutboxOptions/report`` before it goes.
        case dropOldest
    }

    /// How many requests it may hold, dead letters among them.
    public var maximumCount = 10_000
    /// How many bytes they may have together (``OutboxRequest/size``). The file is somewhat larger.
    public var maximumBytes = 64 << 20
    /// What happens to a request that does not fit.
    public var whenFull = WhenFull.refuse
    /// How long the dedupe key of a delivered request is remembered: putting it in again changes nothing. At most ten
    /// thousand are, the newest.
    public var dedupeWindow: Duration = .seconds(86_400)
    /// How long an origin is left alone after a failure; it ends at once when the host becomes reachable again.
    public var backoff = Backoff.standard
    /// The longest a server may ask to be left alone.
    public var maximumRetryAfter: Duration = .seconds(3600)
    /// How often a request is tried before it becomes a dead letter; nil for as often as it takes, for which it holds up its origin.
    /// With the default backoff a thousand are about eight hours of a server that answers with errors. What is no
    /// attempt (``OutboxResult/held(cause:)``) is not counted.
    public var maximumAttempts: Int? = 1000
    /// How long a request may wait that was put in without an expiry; nil for ever. A week by default.
    public var defaultExpiry: Duration? = .seconds(604_800)
    /// Called for each request that is thrown away when another is put in, before it is gone: ``OutboxEvent/expired(_:)``,
    /// ``OutboxEvent/dropped(_:)``. On a thread of the outbox's own, which waits for it: keep it short.
    public var report: (@Sendable (OutboxEvent) -> Void)?
    /// How long what is being sent may go on after the outbox was told to end.
    public var drainLimit: Duration = .seconds(10)
    /// How often ``Outbox/run(sender:coordinator:report:)`` looks for what other processes have put in where the kernel has no file watch
    /// to spare (`/proc/sys/fs/inotify`). Otherwise it is told, and looks at nothing in between.
    public var pollInterval: Duration = .seconds(1)
    /// How many requests are sent at the same time, each to another origin.
    public var maximumConcurrentHosts = 8
    /// Whether a new file is begun when the old one is corrupt and was set aside.
    public var replacesCorruptFile = false
    /// Where to log: what was delivered or thrown away at `info` and `warning`, attempts at `debug`. Never a secret.
    public var logger: Logger?
    /// What waits are measured by.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The time since 1970-01-01T00:00:00Z, CLOCK_REALTIME: what is stored must hold across restarts of the machine.
    public var realTime: @Sendable () -> Duration = { SystemClock.real }

    /// Every option at its default.
    public init() {}
}
