import Dispatch
import GRDB
import Glibc
import LinuxSupport
import Logging

/// The database file of an outbox. Each change is one transaction, which is on the disk when the call returns. The work
/// runs on a separate queue and not on the threads of tasks. Cancelling a task does not interrupt it. Thread-safe.
final class OutboxStore: Sendable {
    let file: String
    let options: OutboxOptions
    private let bootTime: @Sendable () -> Duration
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "ReachabilityOutbox.file")

    init(file: String, options: OutboxOptions, database: DatabaseQueue) {
        self.file = file
        self.options = options
        self.database = database
        bootTime = Self.bootTime(of: options.clock)
    }

    /// Returns CLOCK_BOOTTIME, advanced by the clock of the options.
    private static func bootTime(of clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let (start, first) = (SystemClock.boot, clock.now)
        return { start + first.duration(to: clock.now) }
    }

    var reading: ClockReading { ClockReading(bootTime: bootTime(), realTime: .milliseconds(now)) }

    var lockFile: String { Self.lockFile(of: file) }

    static func lockFile(of file: String) -> String { file + ".lock" }

    /// The current time in milliseconds since 1970. A clock before 1970 counts as 1970, so that the difference of two
    /// times cannot overflow.
    var now: Int64 { max(0, options.realTime().milliseconds) }

    /// Returns a time plus a duration without overflow. Both may be large, because durations come from callers, and a
    /// time may come from a damaged row.
    static func time(_ time: Int64, plus duration: Duration) -> Int64 {
        (Duration.milliseconds(time) + .milliseconds(duration.milliseconds)).milliseconds
    }

    /// Runs a write transaction.
    ///
    /// - Parameter erases: True if deleted data is also removed from the write-ahead log.
    func write<Value: Sendable>(
        erases: Bool = false,
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database, reading] in
            let value = try database.write { db in
                try reading.follow(db)
                return try change(db)
            }
            if erases { Self.emptyLog(database) }
            return value
        }
    }

    /// Runs a write transaction after the pending ones. Errors are ignored.
    func writeLater(_ change: @escaping @Sendable (Database) throws -> Void) {
        queue.async { [database] in try? database.write(change) }
    }

    /// Removes deleted data from the write-ahead log.
    func eraseLog() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in Self.emptyLog(database) }
    }

    /// Writes the write-ahead log into the database and truncates it, because it contains deleted data. A reader may
    /// prevent that for a second at most. The next call repeats it.
    static func emptyLog(_ database: DatabaseQueue) {
        try? database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA busy_timeout = 1000")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = 30000") }
            try db.checkpoint(.truncate)
        }
    }

    /// Runs a read transaction.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database] in try database.read(work) }
    }

    /// Writes the log into the database, deletes the log, and closes the database.
    func close() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in try database.close() }
    }

    /// Runs blocking work on a queue, and awaits its result without blocking a thread.
    static func offPool<Value: Sendable>(
        _ queue: DispatchQueue,
        _ file: String,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws(OutboxError) -> Value {
        let result: Result<Value, OutboxError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result(catching: work).mapError { OutboxError($0, file: file) })
            }
        }
        return try result.get()
    }
}

/// Opening holds a lock that excludes other processes that open the file. Otherwise two processes could migrate the
/// schema at the same time, or one could rename the file that the other has just created.
extension OutboxStore {
    static func open(file: String, options: OutboxOptions) async throws(OutboxError) -> OutboxStore {
        let queue = DispatchQueue(label: "ReachabilityOutbox.opening")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) { try openNow(file: file, options: options) }
    }

    private static func openNow(file: String, options: OutboxOptions) throws -> OutboxStore {
        // Nothing is created beside a foreign file, not even a lock file.
        _ = try OutboxFile.isOutbox(file)
        let lock = try FileLock.take(lockFile(of: file), for: .opening, waits: true)
        defer { withExtendedLifetime(lock) {} }
        if try OutboxFile.isOutbox(file) {
            try OutboxFile.makePrivate(file)
        } else if let keptAs = CorruptFile.left(beside: file), !options.replacesCorruptFile {
            throw OutboxError.corrupt(file: file, keptAs: keptAs)
        } else {
            try OutboxFile.make(file)
        }
        do {
            return OutboxStore(file: file, options: options, database: try connect(file))
        } catch let error where OutboxError(error, file: file).isCorruption {
            // A sender has the file open. It will find the damage itself.
            guard let sending = try FileLock.take(lockFile(of: file), for: .sending, waits: false) else { throw error }
            defer { withExtendedLifetime(sending) {} }
            let keptAs = try CorruptFile.setAside(file, at: options.realTime())
            options.logger?.error("outbox is corrupt", metadata: ["file": "\(file)", "keptAs": "\(keptAs)"])
            guard options.replacesCorruptFile else { throw OutboxError.corrupt(file: file, keptAs: keptAs) }
            try OutboxFile.make(file)
            return OutboxStore(file: file, options: options, database: try connect(file))
        }
    }

    private static func connect(_ file: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "ReachabilityOutbox"
        configuration.journalMode = .wal
        // SQLite has no fair queue. Beside a process that writes without a pause, a slow process may wait for long.
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { db in
            // Deleted rows contain secrets.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            try check(db, file)
        }
        let database = try DatabaseQueue(path: OutboxFile.databasePath(file), configuration: configuration)
        // GRDB has just set it to NORMAL. Then a power cut may undo a committed transaction.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try OutboxSchema.migrator.migrate(database)
        // A killed process may have left data in the log that it had deleted.
        OutboxStore.emptyLog(database)
        return database
    }

    /// Checks whether the file is intact and its version is known.
    static func check(_ db: Database, _ file: String) throws {
        if let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)"), finding != "ok" {
            throw OutboxError.corrupt(file: file, keptAs: nil)
        }
        if try OutboxSchema.migrator.hasBeenSuperseded(db) { throw OutboxError.newerFormat(file) }
    }
}

extension OutboxError {
    fileprivate var isCorruption: Bool {
        if case .corrupt = self { true } else { false }
    }
}

extension OutboxStore {
    /// Reads a file without changing it. Creates no other file.
    static func inspect<Value: Sendable>(
        at file: String,
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        let queue = DispatchQueue(label: "ReachabilityOutbox.reading")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) {
            guard try OutboxFile.isOutbox(file) else { throw SystemError.noEntry }
            // The lock prevents other processes from opening the file meanwhile. A process that has it open already
            // keeps a log.
            let lock = try FileLock.share(lockFile(of: file), for: .opening)
            defer { withExtendedLifetime(lock) {} }
            while true {
                let reading: OutboxFile.Reading = OutboxFile.exists(file + "-wal") ? .shared : .alone
                do {
                    return try OutboxFile.open(file, reading) { try check($0, file) }.read(work)
                } catch let error as DatabaseError where reading == .shared && error.resultCode == .SQLITE_CANTOPEN {
                    // The last process that had it open may have closed it just now, which deletes the log.
                    guard OutboxFile.exists(file + "-wal") else { continue }
                    let cause = "its log has no index file (\(file)-shm); send or add a request, which creates it"
                    throw OutboxError.cannotOpen(file: file, cause: cause)
                }
            }
        }
    }
}

extension OutboxStore {
    /// Returns the waiting requests in the order in which they are sent: by origin, priority and age.
    func entries() async throws(OutboxError) -> [OutboxEntry] {
        let reading = reading
        return try await read { try Self.entries($0, at: reading) }
    }

    /// Returns the waiting requests of an open database, which may be of an earlier version.
    static func entries(_ db: Database, at reading: ClockReading) throws -> [OutboxEntry] {
        // Requests that expired because the clock was set are corrected at the next write.
        let now = try reading.realTime - reading.step(db)
        let columns = try db.tableExists("dead") ? OutboxEntry.columns : OutboxEntry.firstColumns
        return try Row.fetchAll(
            db,
            sql: "SELECT \(columns) FROM request WHERE ifnull(expiresAt > ?, 1) ORDER BY origin, priority DESC, id",
            arguments: [now.milliseconds]
        ).map { OutboxEntry($0) }
    }

    /// Returns the origins with waiting requests, and their number of requests.
    func queues() async throws(OutboxError) -> [OutboxQueue] {
        let sql = "SELECT origin, min(host) AS host, count(*) AS count FROM request GROUP BY origin ORDER BY origin"
        return try await read { db in
            try Row.fetchAll(db, sql: sql).map {
                OutboxQueue(origin: $0["origin"], host: $0["host"], count: $0["count"])
            }
        }
    }

    /// Deletes a request or a dead letter, also one that is being sent. Returns whether it existed.
    func drop(_ id: Int64) async throws(OutboxError) -> Bool {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
            if db.changesCount > 0 { return true }
            try db.execute(sql: "DELETE FROM dead WHERE id = ?", arguments: [id])
            return db.changesCount > 0
        }
    }

    /// Deletes all requests except dead letters. Returns their number.
    func dropAll() async throws(OutboxError) -> Int {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request")
            return db.changesCount
        }
    }

    /// Returns the expired requests, except those that are being sent.
    func expired() async throws(OutboxError) -> [OutboxEntry] {
        let now = now
        return try await write { try Self.expired($0, now) }
    }

    static func expired(_ db: Database, _ now: Int64) throws -> [OutboxEntry] {
        let sql = "SELECT \(OutboxEntry.columns) FROM request WHERE expiresAt <= ? AND NOT isClaimed ORDER BY id"
        return try Row.fetchAll(db, sql: sql, arguments: [now]).map { OutboxEntry($0) }
    }

    /// Deletes those of the given requests that have expired.
    func deleteExpired(_ entries: [OutboxEntry]) async throws(OutboxError) {
        let now = now
        try await write(erases: true) { try Self.deleteExpired($0, entries, now) }
    }

    static func deleteExpired(_ db: Database, _ entries: [OutboxEntry], _ now: Int64) throws {
        for entry in entries {
            try db.execute(
                sql: "DELETE FROM request WHERE id = ? AND expiresAt <= ? AND NOT isClaimed",
                arguments: [entry.id, now]
            )
        }
    }
}

/// The requests that wait for one origin.
struct OutboxQueue: Hashable, Sendable {
    let origin: String
    /// The host whose reachability is queried.
    let host: String
    let count: Int
}

/// Dead letters: requests that were rejected. They are kept in a separate table until they are requeued or dropped.
extension OutboxStore {
    /// The columns that a dead letter copies from a request.
    private static let columns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, attempts, size, method, url, headers, body, \
        lifetime
        """

    func deadLetters() async throws(OutboxError) -> [OutboxEntry] {
        try await read { try Self.deadLetters($0) }
    }

    /// Returns the dead letters of an open database, the oldest first. A file of an earlier version has none.
    static func deadLetters(_ db: Database) throws -> [OutboxEntry] {
        guard try db.tableExists("dead") else { return [] }
        return try Row.fetchAll(db, sql: "SELECT \(OutboxEntry.deadColumns) FROM dead ORDER BY diedAt, id")
            .map { OutboxEntry($0) }
    }

    /// Moves a request to the dead letters.
    static func moveToDeadLetters(_ id: Int64, _ reason: String, _ db: Database, at now: Int64) throws {
        let sql = "INSERT INTO dead (\(columns), lastError, diedAt) SELECT \(columns), ?, ? FROM request WHERE id = ?"
        try db.execute(sql: sql, arguments: [reason, now, id])
        try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
    }

    /// Moves a dead letter back to the requests, as if it had just been added, with the same number and idempotency
    /// key. Returns whether it existed.
    func requeue(_ id: Int64) async throws(OutboxError) -> Bool {
        let now = now
        return try await write(erases: true) { db in
            let isTaken = """
                SELECT EXISTS (SELECT 1 FROM request JOIN dead USING (dedupeKey) WHERE dead.id = ?)
                """
            if try Bool.fetchOne(db, sql: isTaken, arguments: [id]) ?? false {
                throw OutboxError.invalidRequest("a waiting request has the dedupe key of \(id); drop one of the two")
            }
            try db.execute(
                sql: "INSERT INTO request (\(Self.columns)) SELECT \(Self.columns) FROM dead WHERE id = ?",
                arguments: [id]
            )
            guard db.changesCount > 0 else { return false }
            try db.execute(sql: "DELETE FROM dead WHERE id = ?", arguments: [id])
            try db.execute(
                sql: """
                    UPDATE request SET attempts = 0, enqueuedAt = ?,
                        expiresAt = ? + coalesce(lifetime, expiresAt - enqueuedAt) WHERE id = ?
                    """,
                arguments: [now, now, id]
            )
            return true
        }
    }
}
