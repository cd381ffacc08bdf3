package import GRDB
import ReachabilityLedger

// The incidents, and the state of their deliveries.

extension HistoryStore {
    static let incidentTables = """
        -- An incident that is being reported. Its members are the targets that failed together.
        CREATE TABLE incident (
            id TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE member (
            incident TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
            number INTEGER NOT NULL,
            target TEXT NOT NULL,
            outage TEXT NOT NULL,
            start INTEGER NOT NULL,
            since INTEGER NOT NULL,
            "end" INTEGER,
            ending TEXT,
            attribution TEXT NOT NULL,
            cause TEXT,
            basis TEXT NOT NULL,
            reason TEXT,
            PRIMARY KEY (incident, number)
        ) STRICT, WITHOUT ROWID;
        -- The notifications that a notifier ("courier") has delivered of an incident. Finished deliveries send nothing more.
        CREATE TABLE delivery (
            incident TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
            courier TEXT NOT NULL,
            attribution TEXT NOT NULL,
            cause TEXT,
            refinements INTEGER NOT NULL,
            digests INTEGER NOT NULL,
            isFinished INTEGER NOT NULL,
            PRIMARY KEY (incident, courier)
        ) STRICT, WITHOUT ROWID;
        """

    /// Replaces all stored incidents.
    package func write(_ incidents: [Incident]) throws {
        try database.write { db in
            try db.execute(sql: "DELETE FROM incident")
            for incident in incidents { try Self.write(incident, db) }
        }
    }

    private static func write(_ incident: Incident, _ db: Database) throws {
        let id = incident.id
        try db.execute(sql: "INSERT INTO incident (id) VALUES (?)", arguments: [id])
        for (number, member) in incident.members.enumerated() {
            try db.execute(
                sql: "INSERT INTO member VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    id, number, member.target, member.outage, member.start.nanoseconds,
                    member.since.nanoseconds, member.end?.nanoseconds, member.ending?.rawValue,
                    member.state.attribution.rawValue, member.state.cause?.rawValue,
                    member.state.basis.rawValue, member.reason,
                ]
            )
        }
        try incident.writeDeliveries(db)
    }

    /// Returns the incidents that an earlier run stored, oldest first.
    package func incidents() throws -> [Incident] {
        try database.read { db in
            let sql = "SELECT * FROM incident ORDER BY (SELECT min(start) FROM member WHERE incident = incident.id), id"
            return try Row.fetchAll(db, sql: sql).compactMap { row in try Self.incident(row, db) }
        }
    }

    private static func incident(_ row: Row, _ db: Database) throws -> Incident? {
        let id: String = row["id"]
        let members = try Row.fetchAll(
            db,
            sql: "SELECT * FROM member WHERE incident = ? ORDER BY number",
            arguments: [id]
        ).map { Incident.Member($0) }
        if members.isEmpty { return nil }
        let (deliveries, finished) = try Incident.deliveries(of: id, db)
        return Incident(id: id, members, deliveries: deliveries, finished: finished)
    }
}

extension Incident.Member {
    fileprivate init(_ row: Row) {
        self.init(
            target: row["target"],
            outage: row["outage"],
            start: LedgerInstant(nanoseconds: row["start"]),
            state: TargetState(
                row.attribution,
                row.cause,
                basis: AttributionBasis(rawValue: row["basis"]) ?? .path
            ),
            since: LedgerInstant(nanoseconds: row["since"]),
            reason: row["reason"],
            end: (row["end"] as Int64?).map { LedgerInstant(nanoseconds: $0) },
            ending: (row["ending"] as String?).flatMap { Outage.Ending(rawValue: $0) }
        )
    }
}

// The table `delivery`, which exists in the databases of services and of hubs.

extension Incident {
    package func writeDeliveries(_ db: Database) throws {
        for (worker, delivery) in deliveries {
            try db.execute(
                sql: """
                    INSERT INTO delivery
                        (incident, courier, attribution, cause, refinements, digests, endings, isFinished)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    id, worker, delivery.labels.attribution.rawValue, delivery.labels.cause?.rawValue,
                    delivery.refinements, delivery.digests, delivery.endings, finished.contains(worker),
                ]
            )
        }
    }

    package static func deliveries(
        of id: String,
        _ db: Database
    ) throws -> (deliveries: [String: Delivery], finished: Set<String>) {
        var (deliveries, finished) = ([String: Delivery](), Set<String>())
        for row in try Row.fetchAll(db, sql: "SELECT * FROM delivery WHERE incident = ?", arguments: [id]) {
            let worker: String = row["courier"]
            deliveries[worker] = Delivery(
                labels: Labels(attribution: row.attribution, cause: row.cause),
                refinements: row["refinements"],
                digests: row["digests"],
                endings: row["endings"]
            )
            if row["isFinished"] { finished.insert(worker) }
        }
        return (deliveries, finished)
    }
}

// The notes on outages.

extension HistoryStore {
    static let noteTable = """
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

    static func write(_ note: OutageNote, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO note (outage, start, instant, author, text) VALUES (?, ?, ?, ?, ?)",
            arguments: [note.outage, note.start.nanoseconds, note.instant.nanoseconds, note.author, note.text]
        )
    }

    /// Returns the notes on outages, oldest first, keyed by the id of the outage.
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

    /// Deletes the notes on outages that were deleted.
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
