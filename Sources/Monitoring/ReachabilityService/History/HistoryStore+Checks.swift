import GRDB
package import ReachabilityLedger

/// What checks came to, in buckets.
extension HistoryStore {
    /// Writes buckets of a run; what was written of them before is replaced.
    func write(_ buckets: [(target: String, bucket: CheckBucket)], run: Int64) throws {
        if buckets.isEmpty { return }
        try database.write { db in
            for (target, bucket) in buckets {
                try db.execute(sql: "INSERT INTO target (name) VALUES (?) ON CONFLICT DO NOTHING", arguments: [target])
                try Self.write(bucket, of: target, run, db)
            }
        }
    }

    private static func write(_ bucket: CheckBucket, of target: String, _ run: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO checks (target, length, start, run, text)
                VALUES ((SELECT id FROM target WHERE name = ?), ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET text = excluded.text
                """,
            arguments: [
                target, bucket.length.ledgerNanoseconds, bucket.start.nanoseconds, run, bucket.text,
            ]
        )
    }

    /// The buckets of a target that begin within a window, the latest first; those of several runs are one.
    ///
    /// - Parameters:
    ///   - run: What this run has written from `since` on is left out: it is known better.
    ///   - limit: At most so many.
    package func buckets(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        butOf run: Int64?,
        since: LedgerInstant?,
        limit: Int
    ) throws -> [CheckBucket] {
        try database.read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT start, length, text FROM checks
                    WHERE target = (SELECT id FROM target WHERE name = ?) AND start >= ? AND start < ?
                        AND NOT (run = ? AND start >= ?)
                    ORDER BY start DESC, length
                    """,
                arguments: [
                    target, from.nanoseconds, to.nanoseconds, run ?? -1, since?.nanoseconds ?? .max,
                ]
            )
            var found: [CheckBucket] = []
            while let row = try rows.next() {
                guard let bucket = Self.bucket(row) else { continue }
                if found.last?.start == bucket.start, found.last?.length == bucket.length {
                    found[found.count - 1].merge(bucket)
                } else if found.count >= limit {
                    break
                } else {
                    found.append(bucket)
                }
            }
            return found
        }
    }

    private static func bucket(_ row: Row) -> CheckBucket? {
        CheckBucket(
            start: LedgerInstant(nanoseconds: row["start"]),
            length: .nanoseconds(row["length"] as Int64),
            text: row["text"]
        )
    }

    /// Makes hours of a slice of the short buckets that are older than a moment.
    ///
    /// - Returns: Whether there may be more.
    func gather(before instant: LedgerInstant) throws -> Bool {
        let short = CheckBucket.short.ledgerNanoseconds
        // Whole hours, so that nothing is added to one that is made.
        let end = CheckBucket(at: instant, length: CheckBucket.long).start
        return try database.write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT checks.start, length, text, target, run, target.name FROM checks
                    JOIN target ON target.id = checks.target
                    WHERE length = ? AND checks.start < ? ORDER BY checks.start LIMIT 500
                    """,
                arguments: [short, end.nanoseconds]
            )
            for row in rows {
                let (name, target, run): (String, Int64, Int64) = (row["name"], row["target"], row["run"])
                let start: Int64 = row["start"]
                var hour = CheckBucket(at: LedgerInstant(nanoseconds: start), length: CheckBucket.long)
                let known = try Row.fetchOne(
                    db,
                    sql:
                        "SELECT start, length, text FROM checks WHERE target = ? AND length = ? AND start = ? AND run = ?",
                    arguments: [target, hour.length.ledgerNanoseconds, hour.start.nanoseconds, run]
                )
                if let known = known.flatMap({ Self.bucket($0) }) { hour.merge(known) }
                if let bucket = Self.bucket(row) { hour.merge(bucket) }
                try Self.write(hour, of: name, run, db)
                try db.execute(
                    sql: "DELETE FROM checks WHERE target = ? AND length = ? AND start = ? AND run = ?",
                    arguments: [target, short, start, run]
                )
            }
            return rows.count == 500
        }
    }

    /// Deletes a slice of the buckets that are older than a moment.
    ///
    /// - Returns: Whether there may be more.
    func pruneBuckets(before instant: LedgerInstant) throws -> Bool {
        try database.write { db in
            try db.execute(
                sql: """
                    DELETE FROM checks WHERE (target, length, start, run) IN (
                        SELECT target, length, start, run FROM target CROSS JOIN checks ON target = target.id
                        WHERE start < ? LIMIT 500
                    )
                    """,
                arguments: [instant.nanoseconds]
            )
            return db.changesCount > 0
        }
    }
}
