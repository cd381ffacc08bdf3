import GRDB
import LinuxSupport
package import ReachabilityLedger

/// The file of the history: what was observed, over restarts of the service and of the machine. It has one writer; whoever reads does
/// not hold it up.
package final class HistoryStore: Sendable {
    /// What is known of the time before this run.
    package struct Resume: Sendable {
        /// Earlier boots, and this one if it was seen before.
        package var eras: [Calendar.Era] = []
        /// How the clocks of this boot stand, if it was seen before.
        package var line: TimeLine?
        /// The last moment that was written down.
        package var last: LedgerInstant?
        /// The work that was announced.
        package var maintenance: [PlannedMaintenance] = []
        /// The outages that lasted when the last run, of the same boot, was killed, by target.
        package var outages: [String: Outage] = [:]

        package init() {}
    }

    package let file: String
    let database: DatabasePool
    private let files: HistoryFiles
    /// Held until the file is closed.
    private let lock: Locked<LockFile?>

    /// Opens a history, or makes one where there is none, of mode 0600. One that is damaged is set aside.
    ///
    /// - Throws: ``HistoryFault``.
    package init(_ file: String) throws(HistoryFault) {
        do {
            lock = Locked(try LockFile(file + ".lock"))
            database = try DatabaseFile.open(file, label: "ReachabilityService.history", HistorySchema.migrator) { db in
                try Self.prepare(db, file)
            }
            // Whoever else owns it has said who may read it.
            try? OwnFile.setMode(file, 0o600)
        } catch {
            throw HistoryFault(error, file: file)
        }
        self.file = file
        files = HistoryFiles(file)
    }

    /// Whether the file is a history, whole, and of a form that is known: before anything is written into it.
    private static func prepare(_ db: Database, _ file: String) throws {
        let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if identifier == 0, tables == 0 {
            // Room that is free is given back bit by bit.
            try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        } else if identifier != HistorySchema.applicationID {
            throw HistoryFault(.foreign, file, "it is a database of another program")
        } else if try HistorySchema.migrator.hasBeenSuperseded(db) {
            throw HistoryFault(.foreign, file, "it was written by a later version of this program")
        } else if try !hasEnded(db), let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)"),
            finding != "ok"
        {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding)
        }
    }

    /// Whether the last run ended in order. Reading all of a large file takes longer than all else at the start; what is damaged elsewhere
    /// shows when it is read, and the file is set aside then.
    private static func hasEnded(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT \"end\" IS NOT NULL FROM run ORDER BY id DESC LIMIT 1") ?? false
    }

    // MARK: Runs

    /// What came before, seen from a boot.
    package func resume(bootIdentifier: String) throws -> Resume {
        try database.read { db in
            var resume = Resume()
            for row in try Row.fetchAll(db, sql: "SELECT identifier, start, offset, label FROM boot ORDER BY start") {
                let line = TimeLine(bootIdentifier: row[0], offset: row[2], labelOffset: row[3])
                resume.eras.append(Calendar.Era(start: LedgerInstant(nanoseconds: row[1]), line: line))
                if line.bootIdentifier == bootIdentifier { resume.line = line }
            }
            resume.maintenance = try Self.maintenance(db)
            resume.last = try Int64.fetchOne(db, sql: "SELECT max(coalesce(\"end\", mark)) FROM run")
                .map { LedgerInstant(nanoseconds: $0) }
            resume.outages = try Self.interruptedOutages(in: bootIdentifier, db)
            return resume
        }
    }

    /// The outages that lasted when the last run was killed in this boot.
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

    /// Begins a run: what earlier runs left open ended when they did, as far as that is known.
    package func begin(_ line: TimeLine, at start: LedgerInstant) throws -> Int64 {
        try database.write { db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(coalesce(\"end\", mark)) FROM run") ?? start.nanoseconds
            // An outage that began with the last mark may continue.
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

    /// The service was alive at a moment.
    package func mark(_ run: Int64, at instant: LedgerInstant) throws {
        try database.write { db in try Self.mark(run, at: instant, db) }
    }

    static func mark(_ run: Int64, at instant: LedgerInstant, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE run SET mark = max(mark, ?) WHERE id = ?",
            arguments: [instant.nanoseconds, run]
        )
    }

    /// The service ends in order at a moment.
    package func end(_ run: Int64, at instant: LedgerInstant) throws {
        try database.write { db in
            try db.execute(
                sql: "UPDATE run SET \"end\" = max(mark, ?), mark = max(mark, ?) WHERE id = ? AND \"end\" IS NULL",
                arguments: [instant.nanoseconds, instant.nanoseconds, run]
            )
        }
    }

    /// The last run lived until a moment, if it has not ended in order before.
    package func markLastRun(at instant: LedgerInstant) throws {
        try database.write { db in
            guard let run = try Int64.fetchOne(db, sql: "SELECT max(id) FROM run WHERE \"end\" IS NULL") else { return }
            try Self.mark(run, at: instant, db)
        }
    }

    /// Whether the file is still where it was. Where it is not, what is written is lost.
    var isInPlace: Bool { files.areInPlace }

    /// Where the file is not where it was, it is whole all the same, and nothing is left beside the name it had.
    package func close() {
        let isLost = !isInPlace
        if isLost { try? database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        try? database.close()
        if isLost { files.removeRest() }
        lock.withLock { $0 = nil }
    }
}

/// Who began outages.
extension HistoryStore {
    static func makeActors(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE actor (
                    outage TEXT PRIMARY KEY,
                    start INTEGER NOT NULL,
                    process INTEGER NOT NULL,
                    program TEXT NOT NULL,
                    unit TEXT
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX acted ON actor (start);
                """
        )
    }

    static func write(_ actor: OutageActor, _ db: Database) throws {
        let process = actor.process
        try db.execute(
            sql: """
                INSERT INTO actor (outage, start, process, program, unit) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [actor.key, actor.start.nanoseconds, process.id, process.program, process.unit]
        )
    }

    /// Who is known by these keys: ids of outages, and of intervals inside.
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

    /// Forgets who began outages that are forgotten.
    static func pruneActors(before instant: LedgerInstant, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM actor WHERE start < ? AND NOT EXISTS (SELECT 1 FROM interval WHERE outage = actor.start)
                """,
            arguments: [instant.nanoseconds]
        )
    }
}

/// The work that is announced, over restarts. Its beginning is one of the wall clock, in nanoseconds since 1970.
extension HistoryStore {
    static func makeMaintenance(_ db: Database) throws {
        try db.execute(
            sql: """
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
        )
    }

    /// What is over at a moment is deleted on this occasion.
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
