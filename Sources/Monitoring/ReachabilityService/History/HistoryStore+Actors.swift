import GRDB
import ReachabilityLedger

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
