import GRDB
package import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

extension SQLiteHubStore {
    package func contents() throws(HistoryFault) -> HubContents {
        try read { db in
            var contents = HubContents()
            for row in try Row.fetchAll(db, sql: "SELECT site, device, record FROM device") {
                guard let place = FleetPlace(site: row[0], device: row[1]) else { continue }
                contents.devices.append(try HubDevice(place, record: Self.bytes(row[2])))
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
            for row in rows { contents.incidents.append(try Self.incident(row, db)) }
            return contents
        }
    }

    package func hasOutage(_ id: String, of place: FleetPlace) throws(HistoryFault) -> Bool {
        try read { db in
            try Bool.fetchOne(
                db,
                sql: "SELECT EXISTS (SELECT 1 FROM outage WHERE site = ? AND device = ? AND id = ?)",
                arguments: [place.site, place.device, id]
            ) ?? false
        }
    }

    package func incidents(_ query: IncidentQuery) throws(HistoryFault) -> [IncidentSummary] {
        try read { db in
            var conditions: [String] = []
            var arguments: StatementArguments = []
            func require(_ condition: String, _ values: [(any DatabaseValueConvertible)?]) {
                conditions.append(condition)
                arguments += StatementArguments(values)
            }
            if let site = query.site { require("site = ?", [site]) }
            if query.isOpen { require("\"end\" IS NULL", []) }
            if let device = query.device {
                require("EXISTS (SELECT 1 FROM part WHERE part.device = ? AND part.incident = incident.id)", [device])
            }
            if let after = query.after {
                require("(start, id) < (SELECT start, id FROM incident WHERE id = ?)", [after])
            }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, site, start, "end", attribution, cause, isUnexplained, isHarmless, deviceCount
                    FROM incident \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
                    ORDER BY start DESC, id DESC LIMIT ?
                    """,
                arguments: arguments + [query.limit]
            )
            return try rows.map { try Self.summary($0, db) }
        }
    }

    package func incident(_ id: String) throws(HistoryFault) -> FleetIncident? {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT id, site, start FROM incident WHERE id = ?", arguments: [id])
                .map { try Self.incident($0, db) }
        }
    }

    private func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) throws(HistoryFault) -> Value {
        do { return try database.read(body) } catch { throw HistoryFault(error, file: file) }
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func incident(_ row: Row, _ db: Database) throws -> FleetIncident {
        let id: String = row[0]
        var parts: [String: FleetIncident.Part] = [:]
        let sql = "SELECT device, record FROM part WHERE incident = ?"
        for part in try Row.fetchAll(db, sql: sql, arguments: [id]) {
            parts[part[0]] = try FleetIncident.Part(record: bytes(part[1]))
        }
        return FleetIncident(id: id, site: row[1], start: .milliseconds(row[2] as Int64), parts: parts)
    }

    private static func summary(_ row: Row, _ db: Database) throws -> IncidentSummary {
        IncidentSummary(
            id: row[0],
            site: row[1],
            start: .milliseconds(row[2] as Int64),
            end: (row[3] as Int64?).map { .milliseconds($0) },
            attribution: Attribution(rawValue: row[4]) ?? .unknown,
            cause: (row[5] as String?).map { OutageCause(rawValue: $0) },
            isUnexplained: row[6],
            isHarmless: row[7],
            deviceCount: row[8],
            devices: try String.fetchAll(
                db,
                sql: "SELECT device FROM part WHERE incident = ? ORDER BY device LIMIT ?",
                arguments: [row[0] as String, IncidentSummary.nameLimit]
            )
        )
    }
}
