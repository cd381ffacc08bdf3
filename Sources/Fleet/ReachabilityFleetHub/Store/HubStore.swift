import GRDB
import LinuxSupport
package import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

/// The store of a hub: machines and incidents in a SQLite file or in memory. Thread-safe.
package final class HubStore: Sendable {
    private let state: Locked<(database: DatabaseFile, isDamaged: Bool)>

    var database: DatabaseFile { state.withLock(\.database) }

    /// Opens a file, or creates one with mode 0600. A damaged file is renamed, and a new one is created.
    package init(_ file: String) throws(HistoryError) {
        state = Locked((try DatabaseFile(file, Self.schema), false))
    }

    /// Creates a store in memory.
    package init() throws(HistoryError) {
        state = Locked((try DatabaseFile(inMemory: Self.schema), false))
    }

    package func close() { database.close() }

    /// Creates a new file if the file was deleted or moved, or if a write has found damage. A damaged file is renamed.
    /// Not for concurrent calls.
    ///
    /// - Returns: True if there is a new file, which is empty.
    func replaceLostFile() throws(HistoryError) -> Bool {
        let (lost, isDamaged) = state.withLock(\.self)
        guard isDamaged || !lost.isInPlace else { return false }
        lost.close()
        if isDamaged { _ = try? DatabaseFile.setAside(lost.path, Self.schema) }
        let database = try DatabaseFile(lost.path, Self.schema)
        state.withLock { $0 = (database, false) }
        return true
    }

    // MARK: Writing

    /// Saves all changes in one transaction.
    package func save(_ changes: HubChanges) throws(HistoryError) {
        do throws(HistoryError) {
            try database.write { db in
                for device in changes.devices { try Self.save(device, db) }
                for incident in changes.incidents { try Self.save(incident, db) }
                for part in changes.parts { try Self.save(part, db) }
            }
        } catch {
            if error.kind == .corrupt { state.withLock { $0.isDamaged = true } }
            throw error
        }
    }

    /// Deletes machines, and the incidents that affected no other machine.
    package func forget(_ places: [DeviceID]) throws(HistoryError) {
        try database.write { db in for place in places { try Self.forget(place, db) } }
    }

    private static func forget(_ place: DeviceID, _ db: Database) throws {
        func execute(_ sql: String, _ arguments: StatementArguments) throws {
            try db.cachedStatement(sql: sql).execute(arguments: arguments)
        }
        for table in ["device", "outage"] {
            try execute("DELETE FROM \(table) WHERE site = ? AND device = ?", [place.site, place.device])
        }
        let sql = """
            SELECT incident, device FROM part WHERE device = :key OR device = :device
                AND (SELECT site FROM incident WHERE id = part.incident) = :site
            """
        let names = ["key": place.description, "device": place.device, "site": place.site]
        for row in try Row.fetchAll(db, sql: sql, arguments: StatementArguments(names)) {
            let (incident, key): (String, String) = (row[0], row[1])
            try execute("DELETE FROM part WHERE incident = ? AND device = ?", [incident, key])
            try execute("UPDATE incident SET deviceCount = deviceCount - 1 WHERE id = ?", [incident])
            try execute("DELETE FROM incident WHERE id = ? AND deviceCount = 0", [incident])
        }
    }

    /// Deletes the oldest incidents that ended before a time.
    ///
    /// - Returns: The number of deleted incidents.
    package func deleteIncidents(endedBefore moment: Duration, limit: Int) throws(HistoryError) -> Int {
        try database.write { db in
            let sql = "SELECT id, site, start FROM incident WHERE \"end\" < ? ORDER BY start LIMIT ?"
            let gone = try Row.fetchAll(db, sql: sql, arguments: [moment.milliseconds, limit])
            for row in gone { try Self.delete(try Self.incident(row, db).incident, db) }
            return gone.count
        }
    }

    private static func delete(_ incident: FleetIncident, _ db: Database) throws {
        for (key, part) in incident.parts {
            guard let place = incident.place(of: key) else { continue }
            for id in part.outages.keys {
                let sql = "DELETE FROM outage WHERE site = ? AND device = ? AND id = ?"
                try db.execute(sql: sql, arguments: [place.site, place.device, id])
            }
        }
        try db.execute(sql: "DELETE FROM part WHERE incident = ?", arguments: [incident.id])
        try db.execute(sql: "DELETE FROM incident WHERE id = ?", arguments: [incident.id])
    }

    private static func save(_ device: HubDevice, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO device (site, device, record) VALUES (?, ?, ?)")
            .execute(arguments: [
                device.place.site, device.place.device, String(decoding: device.record, as: UTF8.self),
            ])
    }

    private static func save(_ incident: IncidentSummary, _ db: Database) throws {
        // The statement updates an existing row, because parts refer to it.
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO incident
                    (id, site, start, "end", attribution, cause, isUnexplained, isHarmless, deviceCount, target, siteCount)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET start = excluded.start, "end" = excluded."end",
                    attribution = excluded.attribution, cause = excluded.cause,
                    isUnexplained = excluded.isUnexplained, isHarmless = excluded.isHarmless,
                    deviceCount = excluded.deviceCount, target = excluded.target, siteCount = excluded.siteCount
                """
        )
        try statement.execute(
            arguments: [
                incident.id, incident.site, incident.start.milliseconds, incident.end?.milliseconds,
                incident.attribution.rawValue, incident.cause?.rawValue, incident.isUnexplained, incident.isHarmless,
                incident.deviceCount, incident.target, incident.sites.count,
            ]
        )
    }

    private static func save(_ part: HubChanges.Part, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO part (incident, device, record) VALUES (?, ?, ?)")
            .execute(arguments: [part.incident, part.key, String(decoding: part.part.record, as: UTF8.self)])
        let statement = try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO outage (site, device, id) VALUES (?, ?, ?)"
        )
        for id in part.part.outages.keys {
            try statement.execute(arguments: [part.place.site, part.place.device, id])
        }
    }
}

extension HubStore {
    /// Returns all machines, the open incidents, and the latest ended incidents of each site.
    package func contents() throws(HistoryError) -> HubContents {
        try database.read { db in
            var contents = HubContents()
            for row in try Row.fetchAll(db, sql: "SELECT site, device, record FROM device") {
                guard let place = DeviceID(site: row[0], device: row[1]) else { continue }
                if let device = try? HubDevice(place, record: Self.bytes(row[2])) {
                    contents.devices.append(device)
                } else {
                    contents.damaged += 1
                }
            }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, site, start FROM (
                        SELECT id, site, start, "end" IS NULL AS lasts,
                            row_number() OVER (PARTITION BY site, "end" IS NULL ORDER BY start DESC, id DESC) AS place
                        FROM incident
                    ) WHERE lasts OR place <= ?
                    """,
                arguments: [HubContents.kept]
            )
            for row in rows {
                let (incident, damaged) = try Self.incident(row, db)
                contents.incidents.append(incident)
                contents.damaged += damaged
            }
            return contents
        }
    }

    /// True if an outage of a machine is part of an incident.
    package func hasOutage(_ id: String, of place: DeviceID) throws(HistoryError) -> Bool {
        try database.read { db in
            try Bool.fetchOne(
                db,
                sql: "SELECT EXISTS (SELECT 1 FROM outage WHERE site = ? AND device = ? AND id = ?)",
                arguments: [place.site, place.device, id]
            ) ?? false
        }
    }

    /// Returns a page of incidents, the latest first. After an unknown incident the page is empty.
    package func incidents(_ query: IncidentQuery) throws(HistoryError) -> [IncidentSummary] {
        try database.read { db in
            let (conditions, arguments) = Self.conditions(query, isPaged: true)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, site, start, "end", attribution, cause, isUnexplained, isHarmless, deviceCount, target,
                        siteCount
                    FROM incident WHERE \(conditions) ORDER BY start DESC, id DESC LIMIT ?
                    """,
                arguments: arguments + [query.limit]
            )
            return try rows.map { try Self.summary($0, db) }
        }
    }

    /// Returns the number of incidents on all pages, at most `limit`.
    package func incidentCount(_ query: IncidentQuery, limit: Int) throws(HistoryError) -> Int {
        try database.read { db in
            let (conditions, arguments) = Self.conditions(query, isPaged: false)
            let sql = "SELECT count(*) FROM (SELECT 1 FROM incident WHERE \(conditions) LIMIT ?)"
            return try Int.fetchOne(db, sql: sql, arguments: arguments + [limit]) ?? 0
        }
    }

    private static func conditions(
        _ query: IncidentQuery,
        isPaged: Bool
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions = ["true"]
        var arguments: StatementArguments = []
        func require(_ condition: String, _ values: [(any DatabaseValueConvertible)?]) {
            conditions.append(condition)
            arguments += StatementArguments(values)
        }
        // The indices of machines of other sites are used only for these expressions.
        let others = "SELECT incident FROM part WHERE instr(device, '/') > 0 AND substr(device"
        let known = "EXISTS (SELECT 1 FROM part WHERE part.device = ? AND part.incident = incident.id)"
        switch (query.site, query.device) {
        case (let site?, nil):
            require("(site = ? OR id IN (\(others), 1, instr(device, '/') - 1) = ?))", [site, site])
        case (nil, let device?):
            require("(\(known) OR id IN (\(others), instr(device, '/') + 1) = ?))", [device, device])
        case (let site?, let device?):
            let other = "id IN (SELECT incident FROM part WHERE part.device = ?)"
            require("(site = ? AND \(known) OR \(other))", [site, device, "\(site)/\(device)"])
        case (nil, nil): break
        }
        if query.isOpen { require("\"end\" IS NULL", []) }
        if isPaged, let after = query.after {
            require("(start, id) < (SELECT start, id FROM incident WHERE id = ?)", [after])
        }
        return (conditions.joined(separator: " AND "), arguments)
    }

    /// Returns an incident with all its parts; nil if it is not in the store.
    package func incident(_ id: String) throws(HistoryError) -> FleetIncident? {
        try database.read { db in
            try Row.fetchOne(db, sql: "SELECT id, site, start FROM incident WHERE id = ?", arguments: [id])
                .map { try Self.incident($0, db).incident }
        }
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Reads an incident, and counts the damaged parts, which are left out.
    private static func incident(_ row: Row, _ db: Database) throws -> (incident: FleetIncident, damaged: Int) {
        let id: String = row[0]
        var parts: [String: FleetIncident.Part] = [:]
        let sql = "SELECT device, record FROM part WHERE incident = ?"
        let records = try Row.fetchAll(db, sql: sql, arguments: [id])
        for part in records { parts[part[0]] = try? FleetIncident.Part(record: bytes(part[1])) }
        let incident = FleetIncident(id: id, site: row[1], start: .milliseconds(row[2] as Int64), parts: parts)
        return (incident, records.count - parts.count)
    }

    private static func summary(_ row: Row, _ db: Database) throws -> IncidentSummary {
        let (id, site, siteCount): (String, String, Int) = (row[0], row[1], row[10])
        let keys = try String.fetchAll(
            db,
            sql: "SELECT device FROM part WHERE incident = ? ORDER BY device LIMIT ?",
            arguments: [id, IncidentSummary.nameLimit]
        )
        let named = """
            SELECT DISTINCT CASE instr(device, '/') WHEN 0 THEN ? ELSE substr(device, 1, instr(device, '/') - 1) END
            FROM part WHERE incident = ? ORDER BY 1
            """
        return IncidentSummary(
            id: id,
            site: site,
            start: .milliseconds(row[2] as Int64),
            end: (row[3] as Int64?).map { .milliseconds($0) },
            attribution: row.attribution,
            cause: row.cause,
            isUnexplained: row[6],
            isHarmless: row[7],
            deviceCount: row[8],
            devices: siteCount > 1 ? keys.map { $0.contains("/") ? $0 : "\(site)/\($0)" } : keys,
            target: row[9],
            sites: siteCount > 1 ? try String.fetchAll(db, sql: named, arguments: [site, id]) : [site]
        )
    }
}
