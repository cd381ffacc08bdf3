import FoundationEssentials
import GRDB
import Glibc
import LinuxSupport
import ReachabilityRetry

/// The schema of the file, and the migrations from older versions. Migrations of released versions never change.
enum OutboxSchema {
    /// The application id of an outbox (`PRAGMA application_id`): the letters RnOb.
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
            // The dedupe keys of delivered requests, so that adding such a request again has no effect.
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
            // There is one queue per origin, and an explicit default port belongs to the same origin. Rejected
            // requests have a separate table.
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
            // The clocks at the last write (`ClockReading`). One row.
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
    /// Creates the error that corresponds to an error of GRDB or SQLite. It contains neither the statement nor its
    /// arguments.
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

    /// Returns whether a failed write means a full disk. SQLite has a code for ENOSPC, but not for EFBIG (a limit of
    /// the file size) or EDQUOT, and not for shared memory that cannot grow.
    private static func isWriting(_ code: ResultCode) -> Bool {
        code == .SQLITE_IOERR_WRITE && [EFBIG, EDQUOT, ENOSPC].contains(errno) || code == .SQLITE_IOERR_SHMSIZE
    }
}

extension SystemError {
    /// Returns the error of an outbox whose file cannot be opened.
    func error(opening file: String) -> OutboxError {
        [ENOSPC, EDQUOT, EFBIG].contains(rawValue)
            ? .diskFull(file: file) : .cannotOpen(file: file, cause: description)
    }
}

/// Conversion of rows of the table `request`.
extension OutboxEntry {
    /// The columns of an entry: all without secrets.
    static let columns = firstColumns + ", lastError, nextTryAt"

    /// The columns of an entry for a dead letter.
    static let deadColumns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, NULL AS notBefore, attempts, 0 AS isClaimed, \
        size, method, lastError, diedAt
        """

    /// The columns of an entry in a file before version 3.
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

    /// The headers as text, one line per header. A value contains no line break, and a name no colon.
    var storedHeaders: String { headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n") }

    private static func headers(stored text: String) -> [RequestHead.Field] {
        text.split(at: "\n").map { line in
            let parts = line.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return RequestHead.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
    }
}

/// The expiry of requests and the time for which delivered keys are kept include only time in which the machine runs.
/// If the system's clock is set, both are shifted, so that a boot with a clock that is years ahead deletes nothing.
extension ClockReading {
    /// The maximum change of the clock that is followed, in milliseconds: 35,000 years. Only damaged rows contain times
    /// beyond it.
    private static let longestStep: Int64 = 1 << 50
    /// The interval at which the clock reading is stored again.
    private static let pause = Duration.seconds(600)

    /// Returns the change of the system's clock since the reading in the file.
    func step(_ db: Database) throws -> Duration { try Self.last(db).map { step(since: $0) } ?? Duration.zero }

    /// Shifts the times in the file by the change of the clock, and stores this reading.
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

    /// Returns the stored reading; nil for a file of an earlier version.
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
