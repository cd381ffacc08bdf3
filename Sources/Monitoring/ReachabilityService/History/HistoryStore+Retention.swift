import GRDB
package import ReachabilityLedger

// Deletion of old data. The transactions are small, so that the writer is never blocked for long.

extension HistoryStore {
    /// Deletes data that is older than `duration`, and merges five-minute buckets of checks that are older than 14 days into hours.
    ///
    /// Only time in which the service was running counts as age. Therefore a boot with a clock that is years ahead deletes nothing.
    package func deleteOld(keeping duration: Duration, _ now: LedgerInstant) throws {
        if let instant = try moment(Self.shortBuckets, before: now) { while try gather(before: instant) {} }
        guard let instant = try moment(duration, before: now) else { return }
        while try pruneBuckets(before: instant) {}
        while try prune(before: instant) {}
    }

    /// Returns the instant since which the service was running for a total time; nil if it was not running for that long.
    private func moment(_ time: Duration, before now: LedgerInstant) throws -> LedgerInstant? {
        let runs = try database.read { db in
            try Row.fetchAll(db, sql: "SELECT start, coalesce(\"end\", mark) AS last FROM run ORDER BY id DESC")
                .map { (LedgerInstant(nanoseconds: $0["start"]), LedgerInstant(nanoseconds: $0["last"])) }
        }
        var (rest, end) = (time, now)
        for (index, (start, last)) in runs.enumerated() {
            // The last run is the current one. An earlier run ends at the start of the next one at the latest.
            let last = index == 0 ? now : min(last, end)
            let length = max(.zero, last - start)
            if length >= rest { return last - rest }
            rest -= length
            end = min(start, last)
        }
        return nil
    }

    /// The retention time of five-minute buckets of checks.
    private static let shortBuckets = Duration.seconds(14 * 86400)

    /// Deletes the oldest days until the file has at most a size. Open intervals are never deleted.
    ///
    /// - Parameter size: The maximum number of bytes in use.
    /// - Returns: True if a day was deleted.
    package func limit(to size: Int, _ now: LedgerInstant) throws -> Bool {
        var hasDeleted = false
        while try self.size() > size, let oldest = try oldest(), oldest < now {
            let end = min(now, oldest + .seconds(86400))
            while try pruneBuckets(before: end) {}
            while try prune(before: end) {}
            if try self.oldest() == oldest { break }
            hasDeleted = true
        }
        // Pages that remain free are not counted as used. They are returned to the file system later.
        for _ in 0..<64 { guard try shrink() else { break } }
        return hasDeleted
    }

    /// Deletes up to 500 intervals that ended before an instant. Their time stays in the sums of days.
    ///
    /// - Returns: True if there may be more.
    package func prune(before instant: LedgerInstant) throws -> Bool {
        try database.write { db in
            let rows = try Row.fetchAll(
                db,
                sql: Self.oldIntervals,
                arguments: [instant.nanoseconds, instant.nanoseconds]
            )
            for row in rows {
                let target: Int64 = row["target"]
                let interval = Self.interval(row)
                try Self.settle(interval, of: target, db)
                try db.execute(
                    sql: "DELETE FROM interval WHERE target = ? AND start = ?",
                    arguments: [target, interval.start.nanoseconds]
                )
            }
            guard rows.count < 500 else { return true }
            // This reads all intervals, so it runs only after a deletion.
            if !rows.isEmpty {
                try db.execute(
                    sql: "DELETE FROM steps WHERE id NOT IN (SELECT steps FROM interval WHERE steps IS NOT NULL)"
                )
            }
            try Self.pruneNotes(before: instant, db)
            try Self.pruneActors(before: instant, db)
            try db.execute(
                sql: "DELETE FROM run WHERE \"end\" < ? AND id < (SELECT max(id) FROM run)",
                arguments: [instant.nanoseconds]
            )
            return false
        }
    }

    /// The query for old intervals. It follows the order of the primary key, so that newer intervals are not read.
    static let oldIntervals = """
        SELECT \(columns), interval.target FROM target CROSS JOIN interval ON interval.target = target.id
        WHERE interval.start < ? AND "end" < ? LIMIT 500
        """

    /// Returns the start of the oldest closed interval or bucket of checks; nil without one.
    package func oldest() throws -> LedgerInstant? {
        try database.read { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT min(start) FROM (
                        SELECT (SELECT min(start) FROM interval WHERE target = target.id AND "end" IS NOT NULL) AS start
                        FROM target UNION ALL SELECT min(start) FROM checks
                    )
                    """
            ).map { LedgerInstant(nanoseconds: $0) }
        }
    }

    /// Returns the number of bytes in use, without free pages and without the write-ahead log.
    package func size() throws -> Int {
        try database.read { db in
            func number(_ name: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0 }
            return try (number("page_count") - number("freelist_count")) * number("page_size")
        }
    }

    /// Returns up to 256 free pages to the file system.
    ///
    /// - Returns: True if there are more free pages.
    package func shrink() throws -> Bool {
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA incremental_vacuum(256)")
            return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 0
        }
    }
}

// The sums of each day. They are complete for days before the column `settled` of the target. For later days they count only deleted
// intervals. The sums are kept forever, and queries over long periods use them instead of reading every interval.

extension HistoryStore {
    static let dayTable = """
        -- The time in each account by day, in nanoseconds. A day has 86400 s of the ledger's time.
        CREATE TABLE day (
            target INTEGER NOT NULL REFERENCES target,
            start INTEGER NOT NULL,
            account TEXT NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY (target, start, account)
        ) STRICT, WITHOUT ROWID;
        """

    /// The length of a day, in nanoseconds.
    private static let length: Int64 = 86400 * 1_000_000_000

    /// Adds an interval to the sums of its days. The same transaction deletes the interval.
    static func settle(_ interval: LedgerInterval, of target: Int64, _ db: Database) throws {
        let settled = try Int64.fetchOne(db, sql: "SELECT settled FROM target WHERE id = ?", arguments: [target])
        try add([interval], of: target, from: settled ?? .min, to: .max, db)
    }

    /// Adds the parts of intervals that lie within a window to the sums of their days.
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

    /// Returns the start of the day that contains an instant, in nanoseconds.
    private static func dayStart(_ nanoseconds: Int64) -> Int64 {
        nanoseconds &- ((nanoseconds % length) + length) % length
    }

    /// Computes the sums of some days that are over.
    ///
    /// - Returns: True if there are more.
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
                // Intervals of the last hour may still change.
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

    /// The number of intervals that one transaction sums up.
    private static let slice = 2000

    /// Returns the intervals of a target that overlap a window, earliest first.
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

    /// Returns the part of a window that consists of days with complete sums; nil without such a day.
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

    /// Returns the sums of the days that lie completely within a window, earliest first. A window that ends now includes today.
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
                days[days.count - 1].times[account] = row[2]
            }
            return days
        }
    }
}

/// The time that a target spent in each account during one day of the ledger's time.
package struct SettledDay: Hashable, Sendable {
    package static let length = Duration.seconds(86400)

    package let start: LedgerInstant
    /// The time in each account.
    package var times: AccountTimes = [:]
}
