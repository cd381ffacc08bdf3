import GRDB
import LinuxSupport

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
