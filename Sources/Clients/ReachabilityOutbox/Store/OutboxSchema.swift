import FoundationEssentials
import GRDB
import Glibc
import LinuxSupport
import ReachabilityRetry

/// The form of the file, and how each older form becomes the next. What is released never changes.
enum OutboxSchema {
    /// What an outbox's header says it is (`PRAGMA application_id`): the letters RnOb.
    static let applicationID: Int32 = 0x526e_4f62

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE request (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        host TEXT NOT NULL,
                        origin TEXT NOT NULL,
                        priority INTEGER NOT NULL,
                        dedupeKey TEXT UNIQUE,
                        idempotencyKey TEXT NOT NULL,
                        enqueuedAt INTEGER NOT NULL,
                        expiresAt INTEGER,
                        notBefore INTEGER,
                        attempts INTEGER NOT NULL DEFAULT 0,
                        isClaimed INTEGER NOT NULL DEFAULT 0,
                        size INTEGER NOT NULL,
                        method TEXT NOT NULL,
                        url TEXT NOT NULL,
                        headers TEXT NOT NULL,
                        body BLOB NOT NULL
                    ) STRICT;
                    CREATE INDEX requestOrder ON request (host, priority DESC, id);
                    CREATE INDEX requestExpiry ON request (expiresAt) WHERE expiresAt IS NOT NULL;
                    CREATE INDEX requestSize ON request (size);
                    """
            )
        }
        migrator.registerMigration("2") { db in
            // Keys of what was delivered: putting it in again changes nothing.
            try db.execute(
                sql: """
                    CREATE TABLE delivered (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        dedupeKey TEXT NOT NULL UNIQUE,
                        deliveredAt INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("3") { db in
            // The queue is the origin's; a default port is no other origin. What was refused for good is kept in a table of its own.
            try db.execute(
                sql: """
                    ALTER TABLE request ADD COLUMN lastError TEXT;
                    ALTER TABLE request ADD COLUMN nextTryAt INTEGER;
                    UPDATE request SET origin = substr(origin, 1, length(origin) - 4) WHERE origin LIKE 'https://%:443';
                    UPDATE request SET origin = substr(origin, 1, length(origin) - 3) WHERE origin LIKE 'http://%:80';
                    DROP INDEX requestOrder;
                    CREATE INDEX requestOrder ON request (origin, priority DESC, id);
                    CREATE TABLE dead (
                        id INTEGER PRIMARY KEY,
                        host TEXT NOT NULL,
                        origin TEXT NOT NULL,
                        priority INTEGER NOT NULL,
                        dedupeKey TEXT,
                        idempotencyKey TEXT NOT NULL,
                        enqueuedAt INTEGER NOT NULL,
                        expiresAt INTEGER,
                        attempts INTEGER NOT NULL,
                        size INTEGER NOT NULL,
                        method TEXT NOT NULL,
                        url TEXT NOT NULL,
                        headers TEXT NOT NULL,
                        body BLOB NOT NULL,
                        lastError TEXT NOT NULL,
                        diedAt INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("clock") { db in
            // How the system's clock stood when a process looked last (`ClockReading`). One row.
            try db.execute(
                sql: """
                    CREATE TABLE clock (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        boot TEXT NOT NULL,
                        bootTime INTEGER NOT NULL,
                        realTime INTEGER NOT NULL
                    ) STRICT;
                    -- How long a request may wait, whatever the clock is set to meanwhile.
                    ALTER TABLE request ADD COLUMN lifetime INTEGER;
                    ALTER TABLE dead ADD COLUMN lifetime INTEGER;
                    """
            )
        }
        return migrator
    }
}

extension OutboxError {
    /// What an error of GRDB or SQLite means. Neither the statement nor its arguments go into it.
    init(_ error: any Error, file: String) {
        switch error {
        case let error as OutboxError: self = error
        case let error as SystemError: self = error.error(opening: file)
        case let error as DatabaseError: self.init(error, file: file)
        default: self = .failed(file: file, cause: "\(type(of: error))")
        }
    }

    private init(_ error: DatabaseError, file: String) {
        let cause = error.message ?? error.resultCode.description
        self =
            switch error.resultCode {
            case .SQLITE_FULL: .diskFull(file: file)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt(file: file, keptAs: nil)
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy(file: file)
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: .cannotOpen(file: file, cause: cause)
            case .SQLITE_IOERR where Self.isWriting(error.extendedResultCode): .diskFull(file: file)
            default: .failed(file: file, cause: cause)
            }
    }

    /// SQLite tells ENOSPC apart from other errors of write(2), but neither EFBIG (a limit of the file's size) nor EDQUOT, and
    /// not when the file of shared memory cannot grow.
    private static func isWriting(_ code: ResultCode) -> Bool {
        code == .SQLITE_IOERR_WRITE && [EFBIG, EDQUOT, ENOSPC].contains(errno) || code == .SQLITE_IOERR_SHMSIZE
    }
}

extension SystemError {
    /// The error of an outbox whose file cannot be opened.
    func error(opening file: String) -> OutboxError {
        [ENOSPC, EDQUOT, EFBIG].contains(rawValue)
            ? .diskFull(file: file) : .cannotOpen(file: file, cause: description)
    }
}

/// Rows of the table `request` as values.
extension OutboxEntry {
    /// The columns an entry is made of: all but the secrets.
    static let columns = firstColumns + ", lastError, nextTryAt"

    /// The same of a dead letter.
    static let deadColumns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, NULL AS notBefore, attempts, 0 AS isClaimed, \
        size, method, lastError, diedAt
        """

    /// The same of a file before version 3.
    static let firstColumns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, notBefore, attempts, isClaimed, size, method
        """

    init(_ row: Row) {
        self.init(
            id: row["id"],
            method: row["method"],
            origin: row["origin"],
            host: row["host"],
            priority: row["priority"],
            dedupeKey: row["dedupeKey"],
            idempotencyKey: row["idempotencyKey"],
            size: max(0, row["size"]),
            enqueuedAt: .milliseconds(row["enqueuedAt"] as Int64),
            expiresAt: (row["expiresAt"] as Int64?).map { .milliseconds($0) },
            notBefore: (row["notBefore"] as Int64?).map { .milliseconds($0) },
            nextTry: [row["notBefore"] as Int64?, row["nextTryAt"] as Int64?].compactMap(\.self).max()
                .map { .milliseconds($0) },
            lastError: row["lastError"],
            diedAt: (row["diedAt"] as Int64?).map { .milliseconds($0) },
            attempts: row["attempts"],
            state: row.hasColumn("diedAt") ? .dead : row["isClaimed"] ? .sending : .waiting
        )
    }
}

extension OutboxRequest {
    init(_ row: Row) {
        let body: Data = row["body"]
        self.init(row["method"], row["url"], headers: Self.headers(stored: row["headers"]), body: Array(body))
    }

    /// Headers as one text: a line for each. No value has a line's end in it, and no name a colon.
    var storedHeaders: String { headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n") }

    private static func headers(stored text: String) -> [PlainRequest.Field] {
        text.split(at: "\n").map { line in
            let parts = line.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return PlainRequest.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
    }
}

/// The expiry of requests and the memory of delivered keys count the time for which the machine runs. A step of the system's clock moves both,
/// so that a boot with a clock that is years ahead deletes nothing.
extension ClockReading {
    /// The longest step that is followed, in milliseconds: 35,000 years. Times beyond it stand in damaged rows only.
    private static let longestStep: Int64 = 1 << 50
    /// The interval at which the reading is written again.
    private static let pause = Duration.seconds(600)

    /// Returns how far the system's clock was set since the reading in the file.
    func step(_ db: Database) throws -> Duration { try Self.last(db).map { step(since: $0) } ?? Duration.zero }

    /// Moves the times in the file by the step, and keeps this reading in place of the last.
    func follow(_ db: Database) throws {
        let last = try Self.last(db)
        let step = last.map { self.step(since: $0) } ?? Duration.zero
        if step != .zero {
            let length = max(-Self.longestStep, min(step.milliseconds, Self.longestStep))
            for (table, column) in [("request", "expiresAt"), ("delivered", "deliveredAt")] {
                try db.execute(
                    sql: "UPDATE \(table) SET \(column) = \(column) + ? WHERE abs(\(column) / 2) < ?",
                    arguments: [length, Self.longestStep]
                )
            }
        }
        if let last, step == .zero, boot == last.boot, realTime - last.realTime < Self.pause { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO clock (id, boot, bootTime, realTime) VALUES (1, ?, ?, ?)",
            arguments: [boot, bootTime.milliseconds, realTime.milliseconds]
        )
    }

    /// A file of an earlier version has none.
    private static func last(_ db: Database) throws -> ClockReading? {
        guard try db.tableExists("clock") else { return nil }
        return try Row.fetchOne(db, sql: "SELECT boot, bootTime, realTime FROM clock").map { row in
            ClockReading(
                boot: row[0],
                bootTime: .milliseconds(row[1] as Int64),
                realTime: .milliseconds(row[2] as Int64)
            )
        }
    }
}
