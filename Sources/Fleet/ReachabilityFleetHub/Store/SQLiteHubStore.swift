import GRDB
import LinuxSupport
package import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

/// A file of SQLite. It has one writer, and whoever reads does not hold it up.
package final class SQLiteHubStore: HubStore {
    package let file: String
    let database: DatabasePool
    /// Held until the file is closed.
    private let lock: Locked<LockFile?>

    /// Opens a file, or makes one where there is none, of mode 0600. One that is damaged is set aside.
    package init(_ file: String) throws(HistoryFault) {
        do {
            lock = Locked(try LockFile(file + ".lock"))
            database = try DatabaseFile.open(file, label: "ReachabilityFleetHub.store", HubSchema.migrator) { db in
                try Self.check(db, file)
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
        self.file = file
    }

    /// Whether the file is a hub's, and of a form that is known: before anything is written into it.
    private static func check(_ db: Database, _ file: String) throws {
        let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if identifier == 0, tables == 0 { return }
        if identifier != HubSchema.applicationID {
            throw HistoryFault(.foreign, file, "it is a database of another program, or of a service and not of a hub")
        }
        if try HubSchema.migrator.hasBeenSuperseded(db) {
            throw HistoryFault(.foreign, file, "it was written by a later version of this program")
        }
    }

    package func close() {
        try? database.close()
        lock.withLock { $0 = nil }
    }

    // MARK: Writing

    package func save(_ changes: HubChanges) throws(HistoryFault) {
        do {
            try database.write { db in
                for device in changes.devices { try Self.save(device, db) }
                for incident in changes.incidents { try Self.save(incident, db) }
                for part in changes.parts { try Self.save(part, db) }
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    package func forget(_ places: [FleetPlace]) throws(HistoryFault) {
        do {
            try database.write { db in for place in places { try Self.forget(place, db) } }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    private static func forget(_ place: FleetPlace, _ db: Database) throws {
        for sql in [
            "DELETE FROM device WHERE site = :site AND device = :device",
            "DELETE FROM outage WHERE site = :site AND device = :device",
            """
            UPDATE incident SET deviceCount = deviceCount - 1 WHERE site = :site
                AND id IN (SELECT incident FROM part WHERE device = :device)
            """,
            """
            DELETE FROM part WHERE device = :device
                AND (SELECT site FROM incident WHERE id = part.incident) = :site
            """,
            "DELETE FROM incident WHERE site = :site AND deviceCount = 0",
        ] {
            let statement = try db.cachedStatement(sql: sql)
            let names = ["site": place.site, "device": place.device].filter { sql.contains(":\($0.key)") }
            try statement.execute(arguments: StatementArguments(names))
        }
    }

    package func deleteIncidents(endedBefore moment: Duration, limit: Int) throws(HistoryFault) -> Int {
        do {
            return try database.write { db in
                let sql = "SELECT id, site FROM incident WHERE \"end\" < ? ORDER BY start LIMIT ?"
                let gone = try Row.fetchAll(db, sql: sql, arguments: [moment.milliseconds, limit])
                for row in gone { try Self.delete(row[0], at: row[1], db) }
                return gone.count
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    private static func delete(_ incident: String, at site: String, _ db: Database) throws {
        for row in try Row.fetchAll(
            db,
            sql: "SELECT device, record FROM part WHERE incident = ?",
            arguments: [incident]
        ) {
            for id in try FleetIncident.Part(record: Array((row[1] as String).utf8)).outages.keys {
                let sql = "DELETE FROM outage WHERE site = ? AND device = ? AND id = ?"
                try db.execute(sql: sql, arguments: [site, row[0] as String, id])
            }
        }
        try db.execute(sql: "DELETE FROM part WHERE incident = ?", arguments: [incident])
        try db.execute(sql: "DELETE FROM incident WHERE id = ?", arguments: [incident])
    }

    private static func save(_ device: HubDevice, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO device (site, device, record) VALUES (?, ?, ?)")
            .execute(arguments: [
                device.place.site, device.place.device, String(decoding: device.record, as: UTF8.self),
            ])
    }

    private static func save(_ incident: IncidentSummary, _ db: Database) throws {
        // Not replaced, for parts refer to it.
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO incident
                    (id, site, start, "end", attribution, cause, isUnexplained, isHarmless, deviceCount)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET start = excluded.start, "end" = excluded."end",
                    attribution = excluded.attribution, cause = excluded.cause,
                    isUnexplained = excluded.isUnexplained, isHarmless = excluded.isHarmless,
                    deviceCount = excluded.deviceCount
                """
        )
        try statement.execute(
            arguments: [
                incident.id, incident.site, incident.start.milliseconds, incident.end?.milliseconds,
                incident.attribution.rawValue, incident.cause?.rawValue, incident.isUnexplained, incident.isHarmless,
                incident.deviceCount,
            ]
        )
    }

    private static func save(_ part: HubChanges.Part, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO part (incident, device, record) VALUES (?, ?, ?)")
            .execute(arguments: [part.incident, part.device, String(decoding: part.part.record, as: UTF8.self)])
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO outage (site, device, id)
                SELECT site, ?, ? FROM incident WHERE id = ?
                """
        )
        for id in part.part.outages.keys {
            try statement.execute(arguments: [part.device, id, part.incident])
        }
    }
}
