import GRDB
package import ReachabilityLedger

/// The days of what is deleted: how much of each day a target spent how. They are kept for ever.
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

    /// Adds an interval to its days. Whoever deletes it does so in the same transaction: each second is in one of them.
    static func settle(_ interval: LedgerInterval, of target: Int64, _ db: Database) throws {
        guard let end = interval.end?.nanoseconds else { return }
        var from = interval.start.nanoseconds
        while from < end {
            let past = ((from % length) + length) % length
            let to = min(end, from - past + length)
            try db.execute(
                sql: """
                    INSERT INTO day (target, start, account, time) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET time = time + excluded.time
                    """,
                arguments: [target, from - past, interval.state.account.rawValue, to - from]
            )
            from = to
        }
    }

    /// How a target spent the days that lie wholly within a window, as far as their intervals are deleted, the earliest first. A window until
    /// now has all that there is of today.
    package func settledDays(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        now: LedgerInstant
    ) throws -> [SettledDay] {
        let last = to < now ? to.nanoseconds.subtractingReportingOverflow(Self.length).partialValue : .max
        return try database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT start, account, time FROM day
                    WHERE target = (SELECT id FROM target WHERE name = ?) AND start >= ? AND start <= ? ORDER BY start
                    """,
                arguments: [target, from.nanoseconds, last]
            )
            var days: [SettledDay] = []
            for row in rows {
                guard let account = LedgerAccount(rawValue: row["account"]) else { continue }
                let start = LedgerInstant(nanoseconds: row["start"])
                if days.last?.start != start { days.append(SettledDay(start: start)) }
                days[days.count - 1].times[account] = .nanoseconds(row["time"] as Int64)
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
    package internal(set) var times: [LedgerAccount: Duration] = [:]

    package init(start: LedgerInstant, times: [LedgerAccount: Duration] = [:]) {
        (self.start, self.times) = (start, times)
    }
}
