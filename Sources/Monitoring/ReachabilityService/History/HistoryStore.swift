import GRDB
import LinuxSupport
package import ReachabilityLedger

/// The history: all observations across restarts of the service and of the machine. A single process writes it. Thread-safe.
package final class HistoryStore: Sendable {
    /// The state that earlier runs stored.
    package struct Resume: Sendable {
        /// The earlier boots, and the current one if an earlier run recorded it. Oldest first.
        package var boots: [Calendar.Boot] = []
        /// The time line of this boot; nil if no earlier run recorded it.
        package var line: TimeLine?
        /// The last instant at which a run was recorded as running; nil for an empty history.
        package var last: LedgerInstant?
        /// The announced maintenance.
        package var maintenance: [PlannedMaintenance] = []
        /// The outages that were open when the last run was killed in this boot, keyed by target.
        package var outages: [String: Outage] = [:]
        /// The last push of each target that sends pushes, keyed by target.
        package var pushes: [String: Push] = [:]
        /// The names of the targets whose last recorded state is that a push is missing.
        package var missedPushes: Set<String> = []
        /// The names of the targets that clients have paused.
        package var paused: Set<String> = []

        package init() {}
    }

    let database: DatabaseFile

    /// Opens a history, or creates it with mode 0600. A damaged file is renamed and replaced by an empty one.
    package init(_ file: String) throws(HistoryError) {
        database = try DatabaseFile(file, Self.schema)
        // This fails if another user owns the file. Then that user controls the permissions.
        try? OwnFile.setMode(file, 0o600)
    }

    /// The path of the file.
    package var file: String { database.path }

    /// A Boolean value that indicates whether the path still leads to the open file. If the file was deleted, moved or replaced, writes are
    /// lost.
    var isInPlace: Bool { database.isInPlace }

    package func close() { database.close() }

    /// The application ID: the ASCII letters `RnHi`.
    private static let applicationID: Int32 = 0x526e_4869

    static let schema = DatabaseSchema(
        applicationID: applicationID,
        owner: "service",
        migrator: migrator,
        // Incremental vacuum allows free pages to be returned in small steps.
        create: { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") },
        check: { db in
            if try !hasEnded(db) { try DatabaseSchema.checkPages(db) }
        }
    )

    /// Returns a Boolean value that indicates whether the last run ended with an orderly shutdown.
    ///
    /// If it did, the integrity check is skipped, because reading a large file takes long.
    private static func hasEnded(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT \"end\" IS NOT NULL FROM run ORDER BY id DESC LIMIT 1") ?? false
    }

    // MARK: Runs

    /// Returns the state that earlier runs stored.
    package func resume(bootIdentifier: String) throws -> Resume {
        try database.read { db in
            var resume = Resume()
            for row in try Row.fetchAll(db, sql: "SELECT identifier, start, offset, label FROM boot ORDER BY start") {
                let line = TimeLine(bootIdentifier: row[0], offset: row[2], labelOffset: row[3])
                resume.boots.append(Calendar.Boot(start: LedgerInstant(nanoseconds: row[1]), line: line))
                if line.bootIdentifier == bootIdentifier { resume.line = line }
            }
            resume.maintenance = try Self.maintenance(db)
            resume.last = try Int64.fetchOne(db, sql: "SELECT max(coalesce(\"end\", mark)) FROM run")
                .map { LedgerInstant(nanoseconds: $0) }
            resume.outages = try Self.interruptedOutages(in: bootIdentifier, db)
            resume.pushes = try Self.pushes(db)
            resume.missedPushes = try Self.missedPushes(db)
            resume.paused = try Self.paused(db)
            return resume
        }
    }

    /// Returns the outages that were open when the last run was killed. Empty if that was in another boot.
    private static func interruptedOutages(in bootIdentifier: String, _ db: Database) throws -> [String: Outage] {
        let last =
            "SELECT boot.identifier FROM run JOIN boot ON boot.id = run.boot WHERE run.id = (SELECT max(id) FROM run)"
        let boot = try String.fetchOne(db, sql: last + " AND run.\"end\" IS NULL")
        guard boot == bootIdentifier else { return [:] }
        let lasting = """
            SELECT target.name, outage FROM interval JOIN target ON target.id = interval.target
            WHERE "end" IS NULL AND outage IS NOT NULL
            """
        var outages: [String: Outage] = [:]
        for row in try Row.fetchAll(db, sql: lasting) {
            let (target, start): (String, Int64) = (row[0], row[1])
            let intervals = try Row.fetchAll(db, sql: intervalsOfOutage, arguments: [target, start]).map(interval)
            if !intervals.isEmpty { outages[target] = Outage(of: target, intervals, before: nil) }
        }
        return outages
    }

    /// Begins a run and returns its id. Intervals that earlier runs left open end at the last recorded instant.
    package func begin(_ line: TimeLine, at start: LedgerInstant) throws -> Int64 {
        try database.write { db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(coalesce(\"end\", mark)) FROM run") ?? start.nanoseconds
            // An outage that began at the last recorded instant is kept, because it may continue.
            try db.execute(
                sql: "DELETE FROM interval WHERE \"end\" IS NULL AND (start > ? OR start = ? AND outage IS NULL)",
                arguments: [last, last]
            )
            try db.execute(sql: "UPDATE interval SET \"end\" = ? WHERE \"end\" IS NULL", arguments: [last])
            try db.execute(
                sql: """
                    INSERT INTO boot (identifier, start, offset, label) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET label = excluded.label
                    """,
                arguments: [line.bootIdentifier, start.nanoseconds, line.offset, line.labelOffset]
            )
            let boot = try Int64.fetchOne(
                db,
                sql: "SELECT id FROM boot WHERE identifier = ? AND offset = ?",
                arguments: [line.bootIdentifier, line.offset]
            )
            try db.execute(
                sql: "INSERT INTO run (boot, start, mark) VALUES (?, ?, ?)",
                arguments: [boot, start.nanoseconds, start.nanoseconds]
            )
            return db.lastInsertedRowID
        }
    }

    /// Records that the service was running at an instant.
    package func mark(_ run: Int64, at instant: LedgerInstant) throws {
        try database.write { db in try Self.mark(run, at: instant, db) }
    }

    static func mark(_ run: Int64, at instant: LedgerInstant, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE run SET mark = max(mark, ?) WHERE id = ?",
            arguments: [instant.nanoseconds, run]
        )
    }

    /// Records the orderly end of a run.
    package func end(_ run: Int64, at instant: LedgerInstant) throws {
        try database.write { db in
            try db.execute(
                sql: "UPDATE run SET \"end\" = max(mark, ?), mark = max(mark, ?) WHERE id = ? AND \"end\" IS NULL",
                arguments: [instant.nanoseconds, instant.nanoseconds, run]
            )
        }
    }

    /// Records that the last run continued until an instant. Does nothing if that run had an orderly end.
    package func markLastRun(at instant: LedgerInstant) throws {
        try database.write { db in
            guard let run = try Int64.fetchOne(db, sql: "SELECT max(id) FROM run WHERE \"end\" IS NULL") else { return }
            try Self.mark(run, at: instant, db)
        }
    }
}

// The schema. Released migrations never change. Times are instants of the ledger, in nanoseconds.

extension HistoryStore {
    /// The statements of each migration.
    private static let migrations = [
        ("1", "PRAGMA application_id = \(applicationID);\n" + tables), ("incidents", incidentTables),
        ("checks", checkTable),
        // Open intervals are searched at each start of the service.
        ("open", "CREATE INDEX lasting ON interval (start) WHERE \"end\" IS NULL"),
        ("notes", noteTable), ("days", dayTable), ("actors", actorTable), ("maintenance", maintenanceTables),
        ("outages", outageTable),
        // For days before `settled`, the table `day` has the complete sums of the target. For later days it has only deleted intervals.
        ("sums", "ALTER TABLE target ADD COLUMN settled INTEGER"),
        ("endings", "ALTER TABLE delivery ADD COLUMN endings INTEGER NOT NULL DEFAULT 0"), ("pushes", pushTable),
    ]

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (name, sql) in migrations { migrator.registerMigration(name) { try $0.execute(sql: sql) } }
        return migrator
    }

    private static let tables = """
        -- A boot of the machine, with the relation of its clocks to the ledger's time.
        CREATE TABLE boot (
            id INTEGER PRIMARY KEY,
            identifier TEXT NOT NULL,
            start INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            label INTEGER NOT NULL,
            UNIQUE (identifier, offset)
        ) STRICT;
        -- A run of the service. It was running at "mark". "end" is null without an orderly end.
        CREATE TABLE run (
            id INTEGER PRIMARY KEY,
            boot INTEGER NOT NULL REFERENCES boot,
            start INTEGER NOT NULL,
            mark INTEGER NOT NULL,
            "end" INTEGER
        ) STRICT;
        CREATE TABLE target (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        -- The steps of evidence. Equal texts are stored once.
        CREATE TABLE steps (
            id INTEGER PRIMARY KEY,
            text TEXT NOT NULL UNIQUE
        ) STRICT;
        -- The intervals of a target. They never overlap, and the current one has no end.
        CREATE TABLE interval (
            target INTEGER NOT NULL REFERENCES target,
            start INTEGER NOT NULL,
            "end" INTEGER,
            attribution TEXT NOT NULL,
            cause TEXT,
            basis TEXT NOT NULL,
            isMaintenance INTEGER NOT NULL,
            reason TEXT,
            uncertainty INTEGER NOT NULL,
            outage INTEGER,
            steps INTEGER REFERENCES steps,
            explained INTEGER,
            PRIMARY KEY (target, start)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX outage ON interval (outage, target) WHERE outage IS NOT NULL;
        """

    private static let checkTable = """
        -- The statistics of checks within a period, in the format of `CheckBucket`.
        CREATE TABLE checks (
            target INTEGER NOT NULL REFERENCES target,
            length INTEGER NOT NULL,
            start INTEGER NOT NULL,
            run INTEGER NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (target, start, length, run)
        ) STRICT, WITHOUT ROWID;
        """
}

// The last push of each target, and the targets that clients have paused.

extension HistoryStore {
    private static let pushTable = """
        CREATE TABLE push (
            target TEXT PRIMARY KEY,
            time INTEGER NOT NULL,
            isUp INTEGER NOT NULL,
            message TEXT
        ) STRICT, WITHOUT ROWID;
        """

    static func write(_ push: Push, of target: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO push VALUES (?, ?, ?, ?)",
            arguments: [target, push.instant.nanoseconds, push.isUp, push.message]
        )
    }

    /// Returns the targets whose last interval states that a push is missing.
    private static func missedPushes(_ db: Database) throws -> Set<String> {
        try String.fetchSet(
            db,
            sql: """
                SELECT target.name FROM push JOIN target ON target.name = push.target WHERE 'noPush' = (
                    SELECT reason FROM interval WHERE interval.target = target.id ORDER BY start DESC LIMIT 1
                )
                """
        )
    }

    private static func pushes(_ db: Database) throws -> [String: Push] {
        var pushes: [String: Push] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT target, time, isUp, message FROM push") {
            let target: String = row[0]
            pushes[target] = Push(at: LedgerInstant(nanoseconds: row[1]), isUp: row[2], message: row[3])
        }
        return pushes
    }

    /// Returns the targets whose last interval is a pause. The interval of a running or killed run has no end.
    private static func paused(_ db: Database) throws -> Set<String> {
        try String.fetchSet(
            db,
            sql: """
                SELECT target.name FROM interval JOIN target ON target.id = interval.target
                WHERE "end" IS NULL AND cause = 'paused' AND reason = 'paused'
                """
        )
    }
}

// The processes that caused outages.

extension HistoryStore {
    static let actorTable = """
        CREATE TABLE actor (
            outage TEXT PRIMARY KEY,
            start INTEGER NOT NULL,
            process INTEGER NOT NULL,
            program TEXT NOT NULL,
            unit TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX acted ON actor (start);
        """

    static func write(_ actor: OutageActor, _ db: Database) throws {
        let process = actor.process
        try db.execute(
            sql: """
                INSERT INTO actor (outage, start, process, program, unit) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [actor.key, actor.start.nanoseconds, process.id, process.program, process.unit]
        )
    }

    /// Returns the processes with some keys (``OutageActor/key``).
    package func actors(of keys: [String]) throws -> [String: ActingProcess] {
        try database.read { db in
            var found: [String: ActingProcess] = [:]
            for key in keys {
                let sql = "SELECT process, program, unit FROM actor WHERE outage = ?"
                guard let row = try Row.fetchOne(db, sql: sql, arguments: [key]) else { continue }
                found[key] = ActingProcess(id: row[0], program: row[1], unit: row[2])
            }
            return found
        }
    }

    /// Deletes the processes of outages that were deleted.
    static func pruneActors(before instant: LedgerInstant, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM actor WHERE start < ? AND NOT EXISTS (SELECT 1 FROM interval WHERE outage = actor.start)
                """,
            arguments: [instant.nanoseconds]
        )
    }
}

// The announced maintenance. Its start is a time of the wall clock, in nanoseconds since 1970.

extension HistoryStore {
    static let maintenanceTables = """
        CREATE TABLE maintenance (
            id TEXT PRIMARY KEY,
            start INTEGER NOT NULL,
            length INTEGER NOT NULL,
            author TEXT NOT NULL,
            isOfAll INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE maintained (
            maintenance TEXT NOT NULL REFERENCES maintenance ON DELETE CASCADE,
            target TEXT NOT NULL,
            PRIMARY KEY (maintenance, target)
        ) STRICT, WITHOUT ROWID;
        """

    /// Writes announced maintenance, and deletes maintenance that has ended.
    static func write(_ maintenance: PlannedMaintenance, at real: Duration, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM maintenance WHERE start + length <= ?", arguments: [real.nanoseconds])
        try cancelMaintenance(maintenance.id, db)
        try db.execute(
            sql: "INSERT INTO maintenance VALUES (?, ?, ?, ?, ?)",
            arguments: [
                maintenance.id, maintenance.start.nanoseconds, maintenance.length.nanoseconds, maintenance.author,
                maintenance.targets == nil,
            ]
        )
        for target in maintenance.targets ?? [] {
            try db.execute(sql: "INSERT INTO maintained VALUES (?, ?)", arguments: [maintenance.id, target])
        }
    }

    static func cancelMaintenance(_ id: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM maintenance WHERE id = ?", arguments: [id])
    }

    static func maintenance(_ db: Database) throws -> [PlannedMaintenance] {
        try Row.fetchAll(db, sql: "SELECT * FROM maintenance").map { row in
            let id: String = row["id"]
            let sql = "SELECT target FROM maintained WHERE maintenance = ?"
            let targets = try String.fetchSet(db, sql: sql, arguments: [id])
            return PlannedMaintenance(
                id: id,
                targets: row["isOfAll"] ? nil : targets,
                start: .nanoseconds(row["start"] as Int64),
                length: .nanoseconds(row["length"] as Int64),
                author: row["author"]
            )
        }
    }
}
