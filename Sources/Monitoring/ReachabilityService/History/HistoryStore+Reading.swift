import GRDB
import LinuxSupport
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
    ) throws -> [LedgerInterval] {
        try database.read { db in
            guard let id = try Self.id(of: target, db) else { return [] }
            let rows = try Row.fetchCursor(
                db,
                sql: Self.overlapping + " ORDER BY start DESC LIMIT ?",
                arguments: [id, to.nanoseconds, id, from.nanoseconds, from.nanoseconds, from.nanoseconds, limit]
            )
            return try Array(rows.map(Self.interval))
        }
    }

    /// Returns whether a target has more intervals in a window than a limit, without reading them.
    package func hasMoreIntervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        than limit: Int
    ) throws -> Bool {
        try database.read { db in
            guard let id = try Self.id(of: target, db) else { return false }
            let sql = "SELECT 1 FROM interval WHERE target = ? AND start >= ? AND start < ? LIMIT 1 OFFSET ?"
            let arguments: StatementArguments = [id, from.nanoseconds, to.nanoseconds, limit]
            return try Int64.fetchOne(db, sql: sql, arguments: arguments) != nil
        }
    }

    /// The intervals of a target that overlap a window. They do not overlap each other, so none before the last that begins before the window
    /// is read.
    static let overlapping = """
        SELECT \(columns) FROM interval
        WHERE target = ? AND start < ?
            AND start >= coalesce((SELECT max(start) FROM interval WHERE target = ? AND start <= ?), ?)
            AND ("end" IS NULL OR "end" > ?)
        """

    static func id(of target: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT id FROM target WHERE name = ?", arguments: [target])
    }

    /// The last moment at which a service is known to have lived.
    package func lastMark() throws -> LedgerInstant? {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT max(mark) FROM run").map { LedgerInstant(nanoseconds: $0) }
        }
    }

    /// Whether there is anything of a target.
    package func knows(_ target: String) throws -> Bool {
        try database.read { db in try Self.id(of: target, db) != nil }
    }

    /// An outage, with the intervals before and after it.
    package func outage(of target: String, from start: LedgerInstant) throws -> [Entry] {
        try database.read { db in
            let own = try Self.entries(db, Self.intervalsOfOutage, [target, start.nanoseconds])
            guard let last = own.last else { return [] }
            func neighbour(_ comparison: String, _ order: String, _ instant: LedgerInstant) throws -> [Entry] {
                try Self.entries(
                    db,
                    """
                    SELECT \(Self.columns), steps.text, explained FROM interval LEFT JOIN steps ON steps.id = interval.steps
                    WHERE target = (SELECT id FROM target WHERE name = ?) AND start \(comparison) ?
                    ORDER BY start \(order) LIMIT 1
                    """,
                    [target, instant.nanoseconds]
                )
            }
            return try neighbour("<", "DESC", start) + own + neighbour(">", "ASC", last.interval.start)
        }
    }

    static let intervalsOfOutage = """
        SELECT \(columns), steps.text, explained FROM interval INDEXED BY outage LEFT JOIN steps ON steps.id = interval.steps
        WHERE target = (SELECT id FROM target WHERE name = ?) AND outage = ? ORDER BY start
        """

    private static func entries(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws -> [Entry] {
        try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in
            let interval = Self.interval(row)
            var evidence: EvidenceRecord?
            if let text = row[8] as String?, let explained = row[9] as Int64? {
                evidence = EvidenceRecord(
                    interval: interval.start,
                    instant: LedgerInstant(nanoseconds: explained),
                    steps: [EvidenceRecord.Step](text: text)
                )
            }
            return Entry(interval: interval, evidence: evidence)
        }
    }

    /// The columns of an interval. They are read by their places, because a look-up of names takes most of the time.
    static let columns = """
        attribution, cause, basis, isMaintenance, start, uncertainty, "end", reason
        """

    /// - Parameter row: A row that begins with ``columns``.
    static func interval(_ row: Row) -> LedgerInterval {
        let state = TargetState(
            Attribution(rawValue: row[0]) ?? .unknown,
            (row[1] as String?).map { OutageCause(rawValue: $0) },
            basis: AttributionBasis(rawValue: row[2]) ?? .path,
            isMaintenance: row[3]
        )
        return LedgerInterval(
            state,
            from: LedgerInstant(nanoseconds: row[4]),
            uncertainty: .nanoseconds(row[5] as Int64),
            to: (row[6] as Int64?).map { LedgerInstant(nanoseconds: $0) },
            reason: row[7]
        )
    }
}
