import GRDB
import ReachabilityLedger

/// What was written about outages.
extension HistoryStore {
    static func makeNotes(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE note (
                    id INTEGER PRIMARY KEY,
                    outage TEXT NOT NULL,
                    start INTEGER NOT NULL,
                    instant INTEGER NOT NULL,
                    author TEXT NOT NULL,
                    text TEXT NOT NULL
                ) STRICT;
                CREATE INDEX noted ON note (outage);
                """
        )
    }

    static func write(_ note: OutageNote, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO note (outage, start, instant, author, text) VALUES (?, ?, ?, ?, ?)",
            arguments: [note.outage, note.start.nanoseconds, note.instant.nanoseconds, note.author, note.text]
        )
    }

    /// What was written about these outages, by their ids, the oldest first.
    package func notes(on outages: [String]) throws -> [String: [OutageNote]] {
        let notes = try database.read { db in
            let isEmpty = try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM note)")
            if isEmpty != false { return [OutageNote]() }
            return try outages.flatMap { id in
                try Row.fetchAll(db, sql: "SELECT * FROM note WHERE outage = ? ORDER BY id", arguments: [id]).map {
                    OutageNote($0)
                }
            }
        }
        return Dictionary(grouping: notes, by: \.outage)
    }

    /// Deletes what was written about outages that are forgotten.
    static func pruneNotes(before instant: LedgerInstant, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM note WHERE start < ? AND NOT EXISTS (SELECT 1 FROM interval WHERE outage = note.start)
                """,
            arguments: [instant.nanoseconds]
        )
    }
}

extension OutageNote {
    fileprivate init(_ row: Row) {
        self.init(
            outage: row["outage"],
            start: LedgerInstant(nanoseconds: row["start"]),
            instant: LedgerInstant(nanoseconds: row["instant"]),
            author: row["author"],
            text: row["text"]
        )
    }
}
