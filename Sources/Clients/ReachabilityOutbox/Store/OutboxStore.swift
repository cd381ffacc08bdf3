import Dispatch
import GRDB
import Glibc
import LinuxSupport
import Logging

/// The file: every change is one transaction, on the disk when it returns. Work is done on a queue of its own, never on the
/// threads of tasks, and never cut short by a task's end.
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

    /// CLOCK_BOOTTIME, as far as the clock of the options has gone since now.
    private static func bootTime(of clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let (start, first) = (SystemClock.boot, clock.now)
        return { start + first.duration(to: clock.now) }
    }

    var reading: ClockReading { ClockReading(bootTime: bootTime(), realTime: .milliseconds(now)) }

    var lockFile: String { Self.lockFile(of: file) }

    static func lockFile(of file: String) -> String { file + ".lock" }

    /// Milliseconds since 1970. A clock before that counts as 1970, so that differences of two times fit.
    var now: Int64 { max(0, options.realTime().milliseconds) }

    /// A time plus a duration. Neither need be small: durations come from callers, and a time may come from a damaged row.
    static func time(_ time: Int64, plus duration: Duration) -> Int64 {
        (Duration.milliseconds(time) + .milliseconds(duration.milliseconds)).milliseconds
    }

    /// Runs one transaction that writes.
    ///
    /// - Parameter erases: Whether what it deletes shall be gone from the log too.
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

    /// Runs one transaction that writes, after those before it; what fails is no loss.
    func writeLater(_ change: @escaping @Sendable (Database) throws -> Void) {
        queue.async { [database] in try? database.write(change) }
    }

    /// Takes what was deleted out of the log too.
    func eraseLog() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in Self.emptyLog(database) }
    }

    /// Writes the log into the file and cuts it off: a log keeps what was deleted. Somebody who reads may prevent it, for a second at
    /// most; the next time is soon.
    static func emptyLog(_ database: DatabaseQueue) {
        try? database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA busy_timeout = 1000")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = 30000") }
            try db.checkpoint(.truncate)
        }
    }

    /// Runs one transaction that only reads.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database] in try database.read(work) }
    }

    /// Writes the log into the file, deletes it, and closes the file.
    func close() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in try database.close() }
    }

    /// Runs what may block on a queue, and waits for it without blocking a thread.
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

/// Opening holds a lock that excludes others who open: two processes would change the form of the file both, or set aside
/// what the other has just begun anew.
extension OutboxStore {
    static func open(file: String, options: OutboxOptions) async throws(OutboxError) -> OutboxStore {
        let queue = DispatchQueue(label: "ReachabilityOutbox.opening")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) { try openNow(file: file, options: options) }
    }

    private static func openNow(file: String, options: OutboxOptions) throws -> OutboxStore {
        // Nothing is made beside a stranger's file, not even a lock.
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
            // Whoever sends has the file open; it will see for itself.
            guard let sending = try FileLock.take(lockFile(of: file), for: .sending, waits: false) else { throw error }
            defer { withExtendedLifetime(sending) {} }
            let keptAs = try CorruptFile.setAside(file, at: options.realTime())
            options.logger?.error("the outbox is corrupt", metadata: ["file": "\(file)", "keptAs": "\(keptAs)"])
            guard options.replacesCorruptFile else { throw OutboxError.corrupt(file: file, keptAs: keptAs) }
            try OutboxFile.make(file)
            return OutboxStore(file: file, options: options, database: try connect(file))
        }
    }

    private static func connect(_ file: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "ReachabilityOutbox"
        configuration.journalMode = .wal
        // SQLite lets nobody stand in line: beside a process that writes without a pause, a slow one may have bad luck for long.
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { db in
            // What is deleted held secrets.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            try check(db, file)
        }
        let database = try DatabaseQueue(path: OutboxFile.databasePath(file), configuration: configuration)
        // GRDB has just set it to NORMAL, with which a power cut may take back what was promised.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try OutboxSchema.migrator.migrate(database)
        // A process that was killed may have left in it what it had just deleted.
        OutboxStore.emptyLog(database)
        return database
    }

    /// Whether the file is whole, and of a form that is known.
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
    /// Reads a file that nothing may change, and makes nothing beside it.
    static func inspect<Value: Sendable>(
        at file: String,
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        let queue = DispatchQueue(label: "ReachabilityOutbox.reading")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) {
            guard try OutboxFile.isOutbox(file) else { throw SystemError.noEntry }
            // Nobody opens it meanwhile. Whoever has it open already keeps a log.
            let lock = try FileLock.share(lockFile(of: file), for: .opening)
            defer { withExtendedLifetime(lock) {} }
            while true {
                let reading: OutboxFile.Reading = OutboxFile.exists(file + "-wal") ? .shared : .alone
                do {
                    return try OutboxFile.open(file, reading) { try check($0, file) }.read(work)
                } catch let error as DatabaseError where reading == .shared && error.resultCode == .SQLITE_CANTOPEN {
                    // The last who had it open may have closed it now, which ends the log.
                    guard OutboxFile.exists(file + "-wal") else { continue }
                    let cause = "its log has no index beside it (\(file)-shm); opening it to send or to add makes one"
                    throw OutboxError.cannotOpen(file: file, cause: cause)
                }
            }
        }
    }
}

extension OutboxStore {
    /// What waits, in the order it is to be sent in: by origin, priority and age.
    func entries() async throws(OutboxError) -> [OutboxEntry] {
        let reading = reading
        return try await read { try Self.entries($0, at: reading) }
    }

    /// The same of a database that is open, also one of an earlier version.
    static func entries(_ db: Database, at reading: ClockReading) throws -> [OutboxEntry] {
        // What a step of the clock has made old is moved at the next occasion to write.
        let now = try reading.realTime - reading.step(db)
        let columns = try db.tableExists("dead") ? OutboxEntry.columns : OutboxEntry.firstColumns
        return try Row.fetchAll(
            db,
            sql: "SELECT \(columns) FROM request WHERE ifnull(expiresAt > ?, 1) ORDER BY origin, priority DESC, id",
            arguments: [now.milliseconds]
        ).map { OutboxEntry($0) }
    }

    /// What requests wait for: each origin, with how many there are.
    func queues() async throws(OutboxError) -> [OutboxQueue] {
        let sql = "SELECT origin, min(host) AS host, count(*) AS count FROM request GROUP BY origin ORDER BY origin"
        return try await read { db in
            try Row.fetchAll(db, sql: sql).map {
                OutboxQueue(origin: $0["origin"], host: $0["host"], count: $0["count"])
            }
        }
    }

    /// Deletes a request or a dead letter, also one that is being sent; says whether it was there.
    func drop(_ id: Int64) async throws(OutboxError) -> Bool {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
            if db.changesCount > 0 { return true }
            try db.execute(sql: "DELETE FROM dead WHERE id = ?", arguments: [id])
            return db.changesCount > 0
        }
    }

    /// Deletes all requests, and says how many.
    func dropAll() async throws(OutboxError) -> Int {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request")
            return db.changesCount
        }
    }

    /// What has expired, but for what is being sent.
    func expired() async throws(OutboxError) -> [OutboxEntry] {
        let now = now
        return try await write { try Self.expired($0, now) }
    }

    static func expired(_ db: Database, _ now: Int64) throws -> [OutboxEntry] {
        let sql = "SELECT \(OutboxEntry.columns) FROM request WHERE expiresAt <= ? AND NOT isClaimed ORDER BY id"
        return try Row.fetchAll(db, sql: sql, arguments: [now]).map { OutboxEntry($0) }
    }

    /// Deletes what has expired of these.
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

/// What waits for one origin.
struct OutboxQueue: Hashable, Sendable {
    let origin: String
    /// What is asked about.
    let host: String
    let count: Int
}

/// Requests that were given up: kept, in a table of their own, until somebody puts them in again or drops them.
extension OutboxStore {
    /// What a dead letter has of a request.
    private static let columns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, attempts, size, method, url, headers, body, \
        lifetime
        """

    func deadLetters() async throws(OutboxError) -> [OutboxEntry] {
        try await read { try Self.deadLetters($0) }
    }

    /// Those of a database that is open, the oldest first; an earlier version has none.
    static func deadLetters(_ db: Database) throws -> [OutboxEntry] {
        guard try db.tableExists("dead") else { return [] }
        return try Row.fetchAll(db, sql: "SELECT \(OutboxEntry.deadColumns) FROM dead ORDER BY diedAt, id")
            .map { OutboxEntry($0) }
    }

    /// Makes a request a dead letter.
    static func bury(_ id: Int64, _ reason: String, _ db: Database, at now: Int64) throws {
        let sql = "INSERT INTO dead (\(columns), lastError, diedAt) SELECT \(columns), ?, ? FROM request WHERE id = ?"
        try db.execute(sql: sql, arguments: [reason, now, id])
        try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
    }

    /// Makes a dead letter a request again, as if it had just been put in, under its number and with the same key; says
    /// whether it was there.
    func requeue(_ id: Int64) async throws(OutboxError) -> Bool {
        let now = now
        return try await write(erases: true) { db in
            let isTaken = """
                SELECT EXISTS (SELECT 1 FROM request JOIN dead USING (dedupeKey) WHERE dead.id = ?)
                """
            if try Bool.fetchOne(db, sql: isTaken, arguments: [id]) ?? false {
                throw OutboxError.invalidRequest("another with the dedupe key of \(id) waits: drop one of them")
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
