import GRDB
package import ReachabilityLedger

/// How much of each day a target spent how: of the days before the target's mark `settled` all of it, of later days what was deleted. The
/// sums are kept for ever, and answer for long times without reading every interval.
extension HistoryStore {
    static func makeDays(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The time of intervals that were deleted, by the day (of 86400 s, as the time line counts them) and the account.
                CREATE TABLE day (
                    target INTEGER NOT NULL REFERENCES target,
                    start INTEGER NOT NULL,
                    account TEXT NOT NULL,
                    time INTEGER NOT NULL,
                    PRIMARY KEY (target, start, account)
                ) STRICT, WITHOUT ROWID;
                """
        )
    }

    /// So long a day is, in nanoseconds.
    private static let length: Int64 = 86400 * 1_000_000_000

    /// Adds an interval that is deleted in the same transaction to its days: each second is in one of them.
    static func settle(_ interval: LedgerInterval, of target: Int64, _ db: Database) throws {
        let settled = try Int64.fetchOne(db, sql: "SELECT settled FROM target WHERE id = ?", arguments: [target])
        try add([interval], of: target, from: settled ?? .min, to: .max, db)
    }

    /// Adds what intervals have of a time to its days.
    private static func add(
        _ intervals: [LedgerInterval],
        of target: Int64,
        from begin: Int64,
        to limit: Int64,
        _ db: Database
    ) throws {
        var sums: [Int64: [LedgerAccount: Int64]] = [:]
        for interval in intervals {
            guard let end = interval.end.map({ min($0.nanoseconds, limit) }) else { continue }
            var from = max(interval.start.nanoseconds, begin)
            while from < end {
                let day = dayStart(from)
                let (next, overflows) = day.addingReportingOverflow(length)
                let to = overflows ? end : min(end, next)
                sums[day, default: [:]][interval.state.account, default: 0] += to - from
                from = to
            }
        }
        let statement = try db.makeStatement(
            sql: """
                INSERT INTO day (target, start, account, time) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET time = min(time, 86400000000000) + excluded.time
                """
        )
        for (day, times) in sums {
            for (account, time) in times {
                try statement.execute(arguments: [target, day, account.rawValue, time])
            }
        }
    }

    /// When the day of a moment begins.
    private static func dayStart(_ nanoseconds: Int64) -> Int64 {
        nanoseconds &- ((nanoseconds % length) + length) % length
    }

    /// Sums up the days that are over, a slice of them.
    ///
    /// - Returns: Whether there are more.
    package func sumDays(_ now: LedgerInstant) throws -> Bool {
        try database.write { db in
            var count = 0
            let targets = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, settled, (SELECT min(start) FROM interval WHERE target = target.id) AS earliest,
                        (SELECT max(start) FROM interval WHERE target = target.id) AS latest FROM target
                    """
            )
            for row in targets {
                guard let first = row["earliest"] as Int64?, let latest = row["latest"] as Int64? else { continue }
                // What happened a moment ago may still be refined.
                let over = now.nanoseconds.subtractingReportingOverflow(Self.length / 24).partialValue
                let begin = max(row["settled"] as Int64? ?? .min, Self.dayStart(first))
                var end = Self.dayStart(min(latest, over))
                guard begin < end else { continue }
                let id: Int64 = row["id"]
                var intervals = try Self.intervals(of: id, from: begin, to: end, limit: Self.slice, db)
                if intervals.count == Self.slice, let last = intervals.last {
                    end = max(begin &+ Self.length, Self.dayStart(last.start.nanoseconds))
                    intervals = try Self.intervals(of: id, from: begin, to: end, limit: .max, db)
                }
                try Self.add(intervals, of: id, from: begin, to: end, db)
                try db.execute(sql: "UPDATE target SET settled = ? WHERE id = ?", arguments: [end, id])
                count += intervals.count
                if count >= Self.slice { return true }
            }
            return false
        }
    }

    private static let slice = 2000

    /// The earliest first.
    private static func intervals(
        of target: Int64,
        from: Int64,
        to: Int64,
        limit: Int,
        _ db: Database
    ) throws -> [LedgerInterval] {
        try Row.fetchAll(
            db,
            sql: overlapping + " ORDER BY start LIMIT ?",
            arguments: [target, to, target, from, from, from, limit]
        ).map(interval)
    }

    /// The days within a window whose sums have all time of a target: from the first to the beginning of the day after the last. Nil if there
    /// are none.
    package func settledWindow(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant
    ) throws -> (from: LedgerInstant, to: LedgerInstant)? {
        let sql = "SELECT settled FROM target WHERE name = ?"
        guard let settled = try database.read({ try Int64.fetchOne($0, sql: sql, arguments: [target]) }) else {
            return nil
        }
        let day = Self.dayStart(from.nanoseconds)
        let (first, overflows) = day == from.nanoseconds ? (day, false) : day.addingReportingOverflow(Self.length)
        let last = Self.dayStart(min(to.nanoseconds, settled))
        guard !overflows, first < last else { return nil }
        return (LedgerInstant(nanoseconds: first), LedgerInstant(nanoseconds: last))
    }

    /// How a target spent the days that lie wholly within a window, as far as there are sums, the earliest first. A window until now has all
    /// that there is of today.
    package func settledDays(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        now: LedgerInstant
    ) throws -> [SettledDay] {
        let last = to < now ? (to - SettledDay.length).nanoseconds : .max
        return try database.read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT start, account, time FROM day
                    WHERE target = (SELECT id FROM target WHERE name = ?) AND start >= ? AND start <= ? ORDER BY start
                    """,
                arguments: [target, from.nanoseconds, last]
            )
            var days: [SettledDay] = []
            while let row = try rows.next() {
                guard let account = LedgerAccount(rawValue: row[1]) else { continue }
                let start = LedgerInstant(nanoseconds: row[0])
                if days.last?.start != start { days.append(SettledDay(start: start)) }
                days[days.count - 1].times[account] = .nanoseconds(row[2] as Int64)
            }
            return days
        }
    }
}

/// A day of the time line, as far as only the sums of it are kept.
package struct SettledDay: Hashable, Sendable {
    package static let length = Duration.seconds(86400)

    package let start: LedgerInstant
    /// How much of it was spent how.
    package var times: [LedgerAccount: Duration] = [:]

    package init(start: LedgerInstant, times: [LedgerAccount: Duration] = [:]) {
        (self.start, self.times) = (start, times)
    }
}
