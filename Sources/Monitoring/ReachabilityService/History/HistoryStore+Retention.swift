import GRDB
package import ReachabilityLedger

/// What is deleted, and when: slice by slice, so that nobody who writes waits for long.
extension HistoryStore {
    /// Deletes what is older than `duration`; of checks the short buckets become long ones before that.
    ///
    /// Ages count the time in which the service ran: after a boot with a clock that is years ahead, nothing has become older.
    package func deleteOld(keeping duration: Duration, _ now: LedgerInstant) throws {
        if let instant = try moment(Self.shortBuckets, before: now) { while try gather(before: instant) {} }
        guard let instant = try moment(duration, before: now) else { return }
        while try pruneBuckets(before: instant) {}
        while try prune(before: instant) {}
    }

    /// The moment from which the service has run for a time until now; nil if it has not run for so long.
    private func moment(_ time: Duration, before now: LedgerInstant) throws -> LedgerInstant? {
        let runs = try database.read { db in
            try Row.fetchAll(db, sql: "SELECT start, coalesce(\"end\", mark) AS last FROM run ORDER BY id DESC")
                .map { (LedgerInstant(nanoseconds: $0["start"]), LedgerInstant(nanoseconds: $0["last"])) }
        }
        var (rest, end) = (time, now)
        for (index, (start, last)) in runs.enumerated() {
            // The last run goes on. No other goes beyond the beginning of the next.
            let last = index == 0 ? now : min(last, end)
            let length = max(.zero, last - start)
            if length >= rest { return last - rest }
            rest -= length
            end = min(start, last)
        }
        return nil
    }

    /// So long what checks came to is kept in short buckets.
    private static let shortBuckets = Duration.seconds(14 * 86400)

    /// Deletes the oldest days, if the file is too large, until it is not, and gives the room back. What lasts is never deleted.
    ///
    /// - Returns: Whether any were deleted.
    package func limit(to size: Int, _ now: LedgerInstant) throws -> Bool {
        var hasDeleted = false
        while try self.size() > size, let oldest = try oldest(), oldest < now {
            let end = min(now, oldest + .seconds(86400))
            while try pruneBuckets(before: end) {}
            while try prune(before: end) {}
            if try self.oldest() == oldest { break }
            hasDeleted = true
        }
        // What is given back later is room already.
        for _ in 0..<64 { guard try shrink() else { break } }
        return hasDeleted
    }

    /// Deletes a slice of what is older than a moment; the days stay.
    ///
    /// - Returns: Whether there may be more.
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
            // To find what explains nothing any more takes all intervals: only where some of them are gone.
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

    /// Target by target, in the order of their key: what is younger is not read.
    static let oldIntervals = """
        SELECT \(columns), interval.target FROM target CROSS JOIN interval ON interval.target = target.id
        WHERE interval.start < ? AND "end" < ? LIMIT 500
        """

    /// When what is kept begins; nil where nothing is over yet.
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

    /// How many bytes of the file are in use: without what is free in it, and without the log of what was written last.
    package func size() throws -> Int {
        try database.read { db in
            func number(_ name: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0 }
            return try (number("page_count") - number("freelist_count")) * number("page_size")
        }
    }

    /// Gives room that is free back to the disk, a bit of it.
    ///
    /// - Returns: Whether there may be more.
    package func shrink() throws -> Bool {
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA incremental_vacuum(256)")
            return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 0
        }
    }
}
