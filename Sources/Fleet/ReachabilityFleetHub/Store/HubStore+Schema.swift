import GRDB
package import LinuxSupport
import ReachabilityLedger
package import ReachabilityService

/// Notified incidents, and the clock of retention.
extension HubStore {
    /// Returns the notified incidents, the oldest first. Only the saved properties of each are set.
    package func notified() throws(HistoryError) -> [Incident] {
        try database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM told ORDER BY start, incident").map { try Self.notified($0, db) }
        }
    }

    /// Replaces some notified incidents and deletes others, in one transaction.
    package func save(notified incidents: [Incident], forgetting gone: [String]) throws(HistoryError) {
        try database.write { db in
            for id in incidents.map(\.id) + gone {
                try db.execute(sql: "DELETE FROM told WHERE incident = ?", arguments: [id])
            }
            for incident in incidents { try Self.save(notified: incident, db) }
        }
    }

    private static func save(notified incident: Incident, _ db: Database) throws {
        let member = incident.members[0]
        try db.execute(
            sql: "INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                incident.id, incident.site, incident.start.milliseconds,
                (incident.noticed ?? incident.start).milliseconds, member.since.milliseconds,
                member.state.attribution.rawValue, member.state.cause?.rawValue,
            ]
        )
        try incident.writeDeliveries(db)
    }

    private static func notified(_ row: Row, _ db: Database) throws -> Incident {
        let id: String = row["incident"]
        let (deliveries, finished) = try Incident.deliveries(of: id, db)
        return Incident(
            id: id,
            site: row["site"],
            start: LedgerInstant(milliseconds: row["start"]),
            noticed: LedgerInstant(milliseconds: row["noticed"]),
            since: LedgerInstant(milliseconds: row["since"]),
            state: TargetState(row.attribution, row.cause),
            deliveries: deliveries,
            finished: finished
        )
    }

    /// Returns the last reading of the clock of retention; nil before the first one.
    package func age() throws(HistoryError) -> HubAge? {
        try database.read { db in
            try Row.fetchOne(db, sql: "SELECT boot, bootTime, realTime, time FROM age").map { row in
                let reading = ClockReading(
                    boot: row[0],
                    bootTime: .milliseconds(row[1] as Int64),
                    realTime: .milliseconds(row[2] as Int64)
                )
                return HubAge(reading: reading, time: .milliseconds(row[3] as Int64))
            }
        }
    }

    package func save(_ age: HubAge) throws(HistoryError) {
        let (reading, time) = (age.reading, age.time)
        try database.write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO age (id, boot, bootTime, realTime, time) VALUES (1, ?, ?, ?, ?)",
                arguments: [
                    reading.boot, reading.bootTime.milliseconds, reading.realTime.milliseconds, time.milliseconds,
                ]
            )
        }
    }
}

/// The clock of retention, and its last reading.
package struct HubAge: Hashable, Sendable {
    package let reading: ClockReading
    /// The time since 1970. It advances while the machine runs, and ignores steps of the system clock.
    package let time: Duration
}

extension LedgerInstant {
    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }

    fileprivate init(milliseconds: Int64) {
        self.init(since1970: .milliseconds(milliseconds))
    }
}

/// The database schema. Released migrations never change. Times are milliseconds since 1970 by the hub's clock. A
/// `record` is JSON.
extension HubStore {
    /// The SQLite application id, the characters "RnHu".
    private static let applicationID: Int32 = 0x526e_4875

    static let schema = DatabaseSchema(
        applicationID: applicationID,
        owner: "hub",
        migrator: migrator,
        check: DatabaseSchema.checkPages
    )

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE device (
                        site TEXT NOT NULL,
                        device TEXT NOT NULL,
                        record TEXT NOT NULL,
                        PRIMARY KEY (site, device)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE incident (
                        id TEXT NOT NULL PRIMARY KEY,
                        site TEXT NOT NULL,
                        start INTEGER NOT NULL,
                        "end" INTEGER,
                        attribution TEXT NOT NULL,
                        cause TEXT,
                        isUnexplained INTEGER NOT NULL,
                        isHarmless INTEGER NOT NULL,
                        deviceCount INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX incidentByStart ON incident (start, id);
                    CREATE INDEX incidentBySite ON incident (site, start, id);
                    CREATE INDEX incidentOpen ON incident (start, id) WHERE "end" IS NULL;
                    -- The part of a machine in an incident.
                    CREATE TABLE part (
                        incident TEXT NOT NULL REFERENCES incident,
                        device TEXT NOT NULL,
                        record TEXT NOT NULL,
                        PRIMARY KEY (incident, device)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX partByDevice ON part (device, incident);
                    -- The outages of machines, by the ids of the machines. Each belongs to one incident.
                    CREATE TABLE outage (
                        site TEXT NOT NULL,
                        device TEXT NOT NULL,
                        id TEXT NOT NULL,
                        PRIMARY KEY (site, device, id)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    -- The notified incidents. Ended ones are kept for some time.
                    CREATE TABLE told (
                        incident TEXT NOT NULL PRIMARY KEY,
                        site TEXT NOT NULL,
                        start INTEGER NOT NULL,
                        noticed INTEGER NOT NULL,
                        since INTEGER NOT NULL,
                        attribution TEXT NOT NULL,
                        cause TEXT
                    ) STRICT, WITHOUT ROWID;
                    -- The notifications sent to one recipient. None follows after isFinished.
                    CREATE TABLE delivery (
                        incident TEXT NOT NULL REFERENCES told ON DELETE CASCADE,
                        courier TEXT NOT NULL,
                        attribution TEXT NOT NULL,
                        cause TEXT,
                        refinements INTEGER NOT NULL,
                        digests INTEGER NOT NULL,
                        endings INTEGER NOT NULL,
                        isFinished INTEGER NOT NULL,
                        PRIMARY KEY (incident, courier)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("age") { db in
            // The clock of retention (`HubAge`). The table has one row.
            try db.execute(
                sql: """
                    CREATE TABLE age (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        boot TEXT NOT NULL,
                        bootTime INTEGER NOT NULL,
                        realTime INTEGER NOT NULL,
                        time INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("sites") { db in
            // An incident may affect machines of other sites. The key of such a machine in `part` is SITE/DEVICE.
            try db.execute(
                sql: """
                    ALTER TABLE incident ADD COLUMN target TEXT;
                    ALTER TABLE incident ADD COLUMN siteCount INTEGER NOT NULL DEFAULT 1;
                    CREATE INDEX partByOtherSite ON part (substr(device, 1, instr(device, '/') - 1), incident)
                        WHERE instr(device, '/') > 0;
                    CREATE INDEX partOfOtherSite ON part (substr(device, instr(device, '/') + 1), incident)
                        WHERE instr(device, '/') > 0;
                    """
            )
        }
        return migrator
    }
}
