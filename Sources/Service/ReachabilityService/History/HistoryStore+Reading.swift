import GRDB
import LinuxPrimitives
package import ReachabilityLedger

extension HistoryStore {
    /// An interval with its evidence, if there is any.
    package struct Entry: Sendable {
        package let interval: LedgerInterval
        package let evidence: EvidenceRecord?
    }

    /// The intervals of a target that overlap a window, the latest first.
    ///
    /// - Parameter limit: At most so many.
    package func intervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int
    ) throws -> [Entry] {
        try database.read { db in
            try Self.entries(
                db,
                """
                SELECT * FROM interval LEFT JOIN steps ON steps.id = interval.steps
                WHERE target = (SELECT id FROM target WHERE name = ?) AND start < ? AND ("end" IS NULL OR "end" > ?)
                ORDER BY start DESC LIMIT ?
                """,
                [target, to.nanoseconds, from.nanoseconds, limit]
            )
        }
    }

    /// The last moment at which a service is known to have lived.
    package func lastMark() throws -> LedgerInstant? {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT max(mark) FROM run").map { LedgerInstant(nanoseconds: $0) }
        }
    }

    /// Whether there is anything of a target.
    package func knows(_ target: String) throws -> Bool {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT id FROM target WHERE name = ?", arguments: [target]) != nil
        }
    }

    /// When outages began, the latest first: at most `limit` of them, and those that began with the last.
    package func outageStarts(
        of target: String?,
        upTo start: LedgerInstant,
        limit: Int
    ) throws -> [(target: String, start: LedgerInstant)] {
        try database.read { db in
            let condition = target == nil ? "" : "AND target.name = ?"
            let arguments: StatementArguments = target.map { [start.nanoseconds, $0] } ?? [start.nanoseconds]
            let sql = """
                SELECT target.name, interval.outage FROM interval JOIN target ON target.id = interval.target
                WHERE interval.outage IS NOT NULL AND interval.outage <= ? \(condition)
                GROUP BY interval.outage, interval.target ORDER BY interval.outage DESC
                """
            var found: [(target: String, start: LedgerInstant)] = []
            let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
            while let row = try rows.next() {
                let start = LedgerInstant(nanoseconds: row[1])
                if found.count >= limit, found.last?.start != start { break }
                found.append((row[0], start))
            }
            return found
        }
    }

    /// An outage, with the intervals before and after it.
    package func outage(of target: String, from start: LedgerInstant) throws -> [Entry] {
        try database.read { db in
            let own = try Self.entries(
                db,
                """
                SELECT * FROM interval LEFT JOIN steps ON steps.id = interval.steps
                WHERE target = (SELECT id FROM target WHERE name = ?) AND outage = ? ORDER BY start
                """,
                [target, start.nanoseconds]
            )
            guard let last = own.last else { return [] }
            func neighbour(_ comparison: String, _ order: String, _ instant: LedgerInstant) throws -> [Entry] {
                try Self.entries(
                    db,
                    """
                    SELECT * FROM interval LEFT JOIN steps ON steps.id = interval.steps
                    WHERE target = (SELECT id FROM target WHERE name = ?) AND start \(comparison) ?
                    ORDER BY start \(order) LIMIT 1
                    """,
                    [target, instant.nanoseconds]
                )
            }
            return try neighbour("<", "DESC", start) + own + neighbour(">", "ASC", last.interval.start)
        }
    }

    private static func entries(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws -> [Entry] {
        try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in
            let interval = Self.interval(row)
            var evidence: EvidenceRecord?
            if let text = row["text"] as String?, let explained = row["explained"] as Int64? {
                evidence = EvidenceRecord(
                    interval: interval.start,
                    instant: LedgerInstant(nanoseconds: explained),
                    steps: [EvidenceRecord.Step](text: text)
                )
            }
            return Entry(interval: interval, evidence: evidence)
        }
    }

    static func interval(_ row: Row) -> LedgerInterval {
        let state = TargetState(
            Attribution(rawValue: row["attribution"]) ?? .unknown,
            (row["cause"] as String?).map { OutageCause(rawValue: $0) },
            basis: AttributionBasis(rawValue: row["basis"]) ?? .path,
            isMaintenance: row["isMaintenance"]
        )
        return LedgerInterval(
            state,
            from: LedgerInstant(nanoseconds: row["start"]),
            uncertainty: .nanoseconds(row["uncertainty"] as Int64),
            to: (row["end"] as Int64?).map { LedgerInstant(nanoseconds: $0) },
            reason: row["reason"]
        )
    }
}
