import GRDB
import ReachabilityLedger

/// What is told of outages, and to whom it was told: so that an end follows each beginning, over restarts, too.
extension HistoryStore {
    static func makeIncidents(_ db: Database) throws {
        try db.execute(
            sql: """
                -- What is being told of; its members are the targets that fell together.
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
                -- What a courier has told of one; nothing more is told where it is finished.
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
        )
    }

    /// Writes all that is to be told, in place of what was there: it is on the disk when this returns.
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
        for (courier, delivery) in incident.deliveries {
            try db.execute(
                sql: "INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    id, courier, delivery.labels.attribution.rawValue, delivery.labels.cause?.rawValue,
                    delivery.refinements,
                    delivery.digests,
                    incident.finished.contains(courier),
                ]
            )
        }
    }

    /// What an earlier run had to tell, the oldest first.
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
        var (deliveries, finished) = ([String: Incident.Delivery](), Set<String>())
        for row in try Row.fetchAll(db, sql: "SELECT * FROM delivery WHERE incident = ?", arguments: [id]) {
            let courier: String = row["courier"]
            deliveries[courier] = Incident.Delivery(row)
            if row["isFinished"] { finished.insert(courier) }
        }
        if members.isEmpty { return nil }
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
                Attribution(rawValue: row["attribution"]) ?? .unknown,
                (row["cause"] as String?).map { OutageCause(rawValue: $0) },
                basis: AttributionBasis(rawValue: row["basis"]) ?? .path
            ),
            since: LedgerInstant(nanoseconds: row["since"]),
            reason: row["reason"],
            end: (row["end"] as Int64?).map { LedgerInstant(nanoseconds: $0) },
            ending: (row["ending"] as String?).flatMap { Outage.Ending(rawValue: $0) }
        )
    }
}

extension Incident.Delivery {
    fileprivate init(_ row: Row) {
        self.init(
            labels: Incident.Labels(
                attribution: Attribution(rawValue: row["attribution"]) ?? .unknown,
                cause: (row["cause"] as String?).map { OutageCause(rawValue: $0) }
            ),
            refinements: row["refinements"],
            digests: row["digests"]
        )
    }
}
