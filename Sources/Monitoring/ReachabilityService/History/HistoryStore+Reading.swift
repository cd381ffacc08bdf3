import GRDB
import LinuxSupport
package import ReachabilityLedger

extension HistoryStore {
    /// An interval and its evidence; nil without evidence.
    package struct Entry: Sendable {
        package let interval: LedgerInterval
        package let evidence: EvidenceRecord?
    }

    /// Returns the intervals of a target that overlap a window, latest first.
    ///
    /// - Parameter limit: The maximum number of intervals.
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

    /// Returns a Boolean value that indicates whether more than `limit` intervals of a target begin in a window.
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

    /// The query for the intervals of a target that overlap a window.
    ///
    /// Intervals do not overlap each other. Therefore the search starts at the last interval that begins at or before the window.
    static let overlapping = """
        SELECT \(columns) FROM interval
        WHERE target = ? AND start < ?
            AND start >= coalesce((SELECT max(start) FROM interval WHERE target = ? AND start <= ?), ?)
            AND ("end" IS NULL OR "end" > ?)
        """

    static func id(of target: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT id FROM target WHERE name = ?", arguments: [target])
    }

    /// Returns the last instant at which a run was recorded as running; nil for an empty history.
    package func lastMark() throws -> LedgerInstant? {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT max(mark) FROM run").map { LedgerInstant(nanoseconds: $0) }
        }
    }

    /// Returns a Boolean value that indicates whether the history has a target.
    package func hasTarget(_ target: String) throws -> Bool {
        try database.read { db in try Self.id(of: target, db) != nil }
    }

    /// Returns the intervals of an outage, and the ones before and after it. Empty if the outage is unknown.
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

    /// The columns of an interval. They are read by position, because looking up the names would take most of the time.
    static let columns = """
        attribution, cause, basis, isMaintenance, start, uncertainty, "end", reason
        """

    /// Returns the interval of a row.
    ///
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

/// A filter for outages. A property that is nil matches all outages.
package struct OutageFilter: Hashable, Sendable {
    /// The names of the targets; nil for all.
    package var targets: [String]?
    package var attribution: Attribution?
    package var cause: OutageCause?
    /// A Boolean value that indicates whether only outages match that have not ended.
    package var isOpen = false
    /// The start of a window. Only outages that end after it match.
    package var from: LedgerInstant?
    /// The end of a window. Only outages that begin before it match.
    package var to: LedgerInstant?

    package init(target: String? = nil) {
        targets = target.map { [$0] }
    }

    /// Returns a Boolean value that indicates whether an outage of one of the targets matches the filter.
    package func admits(_ outage: Outage, at now: LedgerInstant) -> Bool {
        if isOpen, outage.end != nil { return false }
        if let from, (outage.end ?? now) <= from { return false }
        if let to, outage.start >= to { return false }
        if attribution == nil, cause == nil { return true }
        let state = outage.deciding(at: now).state
        return (attribution ?? state.attribution) == state.attribution && (cause ?? state.cause) == state.cause
    }
}

/// An outage without its intervals.
package struct OutageSummary: Hashable, Sendable {
    package let target: String
    /// The attribution and cause of the longest interval.
    package let state: TargetState
    package let start: LedgerInstant
    /// The end; nil for an ongoing outage.
    package let end: LedgerInstant?

    package var id: String { Outage.id(of: target, from: start) }

    init(target: String, state: TargetState, start: LedgerInstant, end: LedgerInstant?) {
        (self.target, self.state, self.start, self.end) = (target, state, start, end)
    }

    package init(_ outage: Outage, at now: LedgerInstant) {
        self.init(target: outage.target, state: outage.deciding(at: now).state, start: outage.start, end: outage.end)
    }
}

/// The number and the total duration of the outages with one attribution and cause.
package struct OutageSum: Hashable, Sendable {
    package let attribution: Attribution
    package let cause: OutageCause?
    package var count = 0
    /// The number of outages that have not ended.
    package var open = 0
    /// The total duration.
    package var time = Duration.zero
}

// The table of outages. Triggers on the table of intervals keep it up to date.

extension HistoryStore {
    /// Returns the query for the row of an outage.
    ///
    /// Attribution and cause are those of the longest interval, or of the first one among equally long ones. The end is that of the last
    /// interval. Without `INDEXED BY`, SQLite prefers the primary key and reads all intervals of the target.
    static func outageRow(of target: String, from start: String) -> String {
        """
        SELECT target, outage,
            (SELECT later."end" FROM interval AS later INDEXED BY outage
                WHERE later.target = \(target) AND later.outage = \(start) ORDER BY later.start DESC LIMIT 1),
            attribution, cause
        FROM interval INDEXED BY outage WHERE target = \(target) AND outage = \(start)
        ORDER BY coalesce("end", start) - start DESC, start LIMIT 1
        """
    }

    /// The table of outages with its indexes and triggers, and the statements that fill it from the intervals.
    static var outageTable: String {
        func renewal(_ interval: String) -> String {
            """
            DELETE FROM outages WHERE target = \(interval).target AND start = \(interval).outage;
            INSERT INTO outages \(outageRow(of: "\(interval).target", from: "\(interval).outage"));
            """
        }
        return """
            CREATE TABLE outages (
                target INTEGER NOT NULL REFERENCES target,
                start INTEGER NOT NULL,
                "end" INTEGER,
                attribution TEXT NOT NULL,
                cause TEXT,
                PRIMARY KEY (start, target)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX outageOfTarget ON outages (target, start, "end");
            CREATE INDEX outageOfTargetByAttribution ON outages (target, attribution, start, "end");
            CREATE INDEX outageByCause ON outages (attribution, cause, start, "end");
            CREATE INDEX outageByAttribution ON outages (attribution, start, "end");
            CREATE TRIGGER intervalAdded AFTER INSERT ON interval WHEN NEW.outage IS NOT NULL BEGIN
                \(renewal("NEW"))
            END;
            CREATE TRIGGER intervalChanged AFTER UPDATE OF "end", attribution, cause, outage ON interval
            WHEN OLD.outage IS NOT NULL OR NEW.outage IS NOT NULL BEGIN
                \(renewal("OLD"))
                \(renewal("NEW"))
            END;
            CREATE TRIGGER intervalRemoved AFTER DELETE ON interval WHEN OLD.outage IS NOT NULL BEGIN
                \(renewal("OLD"))
            END;
            INSERT INTO outages
            SELECT interval.target, interval.outage, max(coalesce(interval."end", \(Int64.max))), attribution, cause
            FROM interval WHERE outage IS NOT NULL GROUP BY interval.outage, interval.target;
            UPDATE outages SET "end" = NULL WHERE "end" = \(Int64.max);
            UPDATE outages SET (attribution, cause) = (
                SELECT attribution, cause FROM interval INDEXED BY outage
                WHERE interval.target = outages.target AND interval.outage = outages.start
                ORDER BY coalesce(interval."end", interval.start) - interval.start DESC, interval.start LIMIT 1
            );
            """
    }

    /// Returns the outages that match a filter, latest first.
    ///
    /// The result has at most `limit` outages, plus those that start at the same instant as the last one.
    ///
    /// - Parameter start: The latest allowed start of an outage.
    package func outageStarts(
        _ filter: OutageFilter = OutageFilter(),
        upTo start: LedgerInstant,
        limit: Int
    ) throws -> [OutageSummary] {
        try database.read { db in
            let request = try Self.request(filter, upTo: start, db)
            var found: [OutageSummary] = []
            let rows = try Row.fetchCursor(db, sql: request.sql, arguments: request.arguments)
            while let row = try rows.next() {
                let start = LedgerInstant(nanoseconds: row[1])
                if found.count >= limit, found.last?.start != start { break }
                let state = TargetState(row.attribution, row.cause)
                let end = (row[2] as Int64?).map { LedgerInstant(nanoseconds: $0) }
                found.append(OutageSummary(target: row[0], state: state, start: start, end: end))
            }
            return found
        }
    }

    static func request(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        _ db: Database
    ) throws -> (sql: String, arguments: StatementArguments) {
        let (conditions, arguments) = try conditions(filter, upTo: start, db)
        let sql = """
            SELECT target.name, outages.start, outages."end", attribution, cause FROM outages CROSS JOIN target ON target.id = outages.target
            WHERE \(conditions) ORDER BY outages.start DESC
            """
        return (sql, arguments)
    }

    /// Returns the number and the total duration of outages that match a filter, by attribution and cause.
    ///
    /// - Parameter now: The end of outages that have not ended.
    package func outageSums(_ filter: OutageFilter, at now: LedgerInstant) throws -> [OutageSum] {
        try database.read { db in
            let (conditions, arguments) = try Self.conditions(filter, upTo: now, db)
            // SQLite sorts the outages of a window. For most outages of a year, reading all in the order of the index is faster.
            let isOfAll = filter.targets == nil && filter.attribution == nil
            let index = isOfAll && now - (filter.from ?? now) > .seconds(90 * 86400) ? "INDEXED BY outageByCause" : ""
            let sql = """
                SELECT attribution, cause, count(*) AS count, count(*) - count("end") AS open,
                    total(coalesce("end", ?) - start) AS time
                FROM outages \(index) WHERE \(conditions) GROUP BY attribution, cause
                """
            return try Row.fetchAll(db, sql: sql, arguments: [now.nanoseconds] + arguments).map { row in
                OutageSum(
                    attribution: row.attribution,
                    cause: row.cause,
                    count: row["count"],
                    open: row["open"],
                    time: .seconds((row["time"] as Double) / 1e9)
                )
            }
        }
    }

    /// Returns the number of outages that match a filter, at most `limit`.
    package func outageCount(_ filter: OutageFilter, upTo now: LedgerInstant, limit: Int) throws -> Int {
        try database.read { db in
            let (conditions, arguments) = try Self.conditions(filter, upTo: now, db)
            let sql = "SELECT count(*) FROM (SELECT 1 FROM outages WHERE \(conditions) LIMIT ?)"
            return try Int.fetchOne(db, sql: sql, arguments: arguments + [limit]) ?? 0
        }
    }

    private static func conditions(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        _ db: Database
    ) throws -> (sql: String, arguments: StatementArguments) {
        var conditions = ["outages.start <= ?"]
        var arguments: StatementArguments = [start.nanoseconds]
        if let targets = filter.targets {
            // Several targets are read in the order of the primary key. Without the plus sign, SQLite reads each target and sorts the result.
            conditions.append(
                targets.count == 1
                    ? "outages.target = (SELECT id FROM target WHERE name = ?)"
                    : "+outages.target IN (SELECT id FROM target WHERE name IN (\(databaseQuestionMarks(count: targets.count))))"
            )
            arguments += StatementArguments(targets)
        }
        if let attribution = filter.attribution {
            conditions.append("outages.attribution = ?")
            arguments += [attribution.rawValue]
        }
        if let cause = filter.cause {
            conditions.append("outages.cause = ?")
            arguments += [cause.rawValue]
        }
        if filter.isOpen { conditions.append("outages.\"end\" IS NULL") }
        if let from = filter.from {
            conditions += ["outages.start >= ?", "(outages.\"end\" IS NULL OR outages.\"end\" > ?)"]
            arguments += [try earliestOutage(lastingUntilAfter: from, db), from.nanoseconds]
        }
        if let to = filter.to {
            conditions.append("outages.start < ?")
            arguments += [to.nanoseconds]
        }
        return (conditions.joined(separator: " AND "), arguments)
    }

    /// Returns the earliest start of an outage that ends after an instant; the instant itself if none began before it.
    ///
    /// The outages of a target do not overlap. Therefore only the last one of each target that begins at or before the instant is examined.
    private static func earliestOutage(lastingUntilAfter instant: LedgerInstant, _ db: Database) throws -> Int64 {
        let arguments: StatementArguments = [instant.nanoseconds, instant.nanoseconds]
        return try Int64.fetchOne(db, sql: earliestOutage, arguments: arguments) ?? instant.nanoseconds
    }

    /// `CROSS JOIN` makes SQLite read the last outage of each target, and not all outages.
    static let earliestOutage = """
        SELECT min(outages.start) FROM target CROSS JOIN outages ON outages.target = target.id
        WHERE outages.start = (
            SELECT max(start) FROM outages AS own WHERE own.target = target.id AND own.start <= ?
        ) AND (outages."end" IS NULL OR outages."end" > ?)
        """
}
