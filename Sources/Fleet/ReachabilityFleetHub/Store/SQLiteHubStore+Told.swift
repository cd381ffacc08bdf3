import GRDB
import LinuxSupport
import ReachabilityLedger
package import ReachabilityService

/// What was told of incidents, and to whom: so that none is told twice, and an end follows each beginning, over restarts, too.
extension SQLiteHubStore {
    package func told() throws(HistoryFault) -> [Incident] {
        do {
            return try database.read { db in
                try Row.fetchAll(db, sql: "SELECT * FROM told ORDER BY start, incident").map { try Self.told($0, db) }
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    package func save(told: [Incident], forgetting gone: [String]) throws(HistoryFault) {
        do {
            try database.write { db in
                for id in told.map(\.id) + gone {
                    try db.execute(sql: "DELETE FROM told WHERE incident = ?", arguments: [id])
                }
                for incident in told { try Self.save(told: incident, db) }
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    package func age() throws(HistoryFault) -> HubAge? {
        do {
            return try database.read { db in
                try Row.fetchOne(db, sql: "SELECT boot, bootTime, realTime, time FROM age").map { row in
                    let reading = ClockReading(
                        boot: row[0],
                        bootTime: .milliseconds(row[1] as Int64),
                        realTime: .milliseconds(row[2] as Int64)
                    )
                    return HubAge(reading: reading, time: .milliseconds(row[3] as Int64))
                }
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    package func save(_ age: HubAge) throws(HistoryFault) {
        let (reading, time) = (age.reading, age.time)
        do {
            try database.write { db in
                try db.execute(
                    sql: "INSERT OR REPLACE INTO age (id, boot, bootTime, realTime, time) VALUES (1, ?, ?, ?, ?)",
                    arguments: [
                        reading.boot, reading.bootTime.milliseconds, reading.realTime.milliseconds, time.milliseconds,
                    ]
                )
            }
        } catch {
            throw HistoryFault(error, file: file)
        }
    }

    private static func save(told incident: Incident, _ db: Database) throws {
        let member = incident.members[0]
        try db.execute(
            sql: "INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                incident.id, incident.site, incident.start.milliseconds,
                (incident.noticed ?? incident.start).milliseconds, member.since.milliseconds,
                member.state.attribution.rawValue, member.state.cause?.rawValue,
            ]
        )
        for (courier, delivery) in incident.deliveries {
            try db.execute(
                sql: "INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    incident.id, courier, delivery.labels.attribution.rawValue, delivery.labels.cause?.rawValue,
                    delivery.refinements, delivery.digests, delivery.endings, incident.finished.contains(courier),
                ]
            )
        }
    }

    private static func told(_ row: Row, _ db: Database) throws -> Incident {
        let id: String = row["incident"]
        var (deliveries, finished) = ([String: Incident.Delivery](), Set<String>())
        for row in try Row.fetchAll(db, sql: "SELECT * FROM delivery WHERE incident = ?", arguments: [id]) {
            let courier: String = row["courier"]
            deliveries[courier] = Incident.Delivery(
                labels: Incident.Labels(attribution: attribution(row), cause: cause(row)),
                refinements: row["refinements"],
                digests: row["digests"],
                endings: row["endings"]
            )
            if row["isFinished"] { finished.insert(courier) }
        }
        return Incident(
            id: id,
            site: row["site"],
            start: LedgerInstant(milliseconds: row["start"]),
            noticed: LedgerInstant(milliseconds: row["noticed"]),
            since: LedgerInstant(milliseconds: row["since"]),
            state: TargetState(attribution(row), cause(row)),
            deliveries: deliveries,
            finished: finished
        )
    }

    private static func attribution(_ row: Row) -> Attribution {
        Attribution(rawValue: row["attribution"]) ?? .unknown
    }

    private static func cause(_ row: Row) -> OutageCause? {
        (row["cause"] as String?).map { OutageCause(rawValue: $0) }
    }
}

extension LedgerInstant {
    /// As the file has it.
    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }

    fileprivate init(milliseconds: Int64) {
        self.init(since1970: .milliseconds(milliseconds))
    }
}
