import GRDB
import LinuxSupport
package import ReachabilityLedger

extension HistoryStore {
    /// The position of the writer in the intervals of one target.
    struct Cursor: Sendable {
        /// The id of the target in the database.
        var id: Int64
        /// The end of the intervals that earlier runs wrote. This run writes nothing before it.
        var floor: LedgerInstant
        /// The start of the current outage; nil without an outage.
        var outage: LedgerInstant?
        /// The end of the last interval; nil if the interval is open, or without an interval.
        var end: LedgerInstant?
    }

    /// Writes events of a run in one transaction. If it fails, the cursors are unchanged.
    func write(_ events: [ServiceEvent], run: Int64, line: TimeLine, _ cursors: inout [String: Cursor]) throws {
        var changed = cursors
        try database.write { db in
            for event in events {
                try self.write(event, line, &changed, db)
            }
            if let last = events.last { try Self.mark(run, at: last.instant, db) }
        }
        cursors = changed
    }

    private func write(
        _ event: ServiceEvent,
        _ line: TimeLine,
        _ cursors: inout [String: Cursor],
        _ db: Database
    ) throws {
        guard let target = event.target else {
            switch event.kind {
            case .clockStepped:
                try db.execute(
                    sql: "UPDATE boot SET label = ? WHERE identifier = ? AND offset = ?",
                    arguments: [line.labelOffset, line.bootIdentifier, line.offset]
                )
            case .maintenancePlanned(let planned):
                try Self.write(planned, at: line.wall(at: event.instant), db)
            case .maintenanceCancelled(let id): try Self.cancelMaintenance(id, db)
            default: break
            }
            return
        }
        switch event.kind {
        case .ledger(.opened(let interval)), .ledger(.closed(let interval)), .ledger(.refined(let interval)):
            var cursor = try cursors[target] ?? makeCursor(target, interval, db)
            try fillGap(before: interval.start, &cursor, db)
            try write(interval, &cursor, db)
            cursor.end = interval.end
            cursors[target] = cursor
        case .explained(let record):
            guard let cursor = cursors[target] else { return }
            try write(record, cursor, db)
        case .noted(let note): try Self.write(note, db)
        case .actorFound(let actor): try Self.write(actor, db)
        case .pushed(let push): try Self.write(push, of: target, db)
        case .ledger, .clockStepped, .resumed, .maintenancePlanned, .maintenanceCancelled: break
        }
    }

    private func write(_ interval: LedgerInterval, _ cursor: inout Cursor, _ db: Database) throws {
        let start = max(interval.start, cursor.floor)
        if interval.state.isOutage {
            // Outage intervals that follow each other without a gap belong to one outage.
            if cursor.outage == nil { cursor.outage = start }
        } else {
            cursor.outage = nil
        }
        if let end = interval.end, end <= start {
            // An interval without length is not stored.
            try db.execute(
                sql: "DELETE FROM interval WHERE target = ? AND start = ?",
                arguments: [cursor.id, start.nanoseconds]
            )
            return
        }
        try db.execute(
            sql: """
                INSERT INTO interval
                    (target, start, "end", attribution, cause, basis, isMaintenance, reason, uncertainty, outage)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET "end" = excluded."end", attribution = excluded.attribution,
                    cause = excluded.cause, basis = excluded.basis, isMaintenance = excluded.isMaintenance,
                    reason = excluded.reason, uncertainty = excluded.uncertainty, outage = excluded.outage
                """,
            arguments: [
                cursor.id, start.nanoseconds, interval.end?.nanoseconds, interval.state.attribution.rawValue,
                interval.state.cause?.rawValue, interval.state.basis.rawValue, interval.state.isMaintenance,
                interval.reason, interval.uncertainty.nanoseconds, cursor.outage?.nanoseconds,
            ]
        )
    }

    private func write(_ record: EvidenceRecord, _ cursor: Cursor, _ db: Database) throws {
        let text = record.steps.text
        try db.execute(sql: "INSERT INTO steps (text) VALUES (?) ON CONFLICT DO NOTHING", arguments: [text])
        try db.execute(
            sql: """
                UPDATE interval SET steps = (SELECT id FROM steps WHERE text = ?), explained = ?
                WHERE target = ? AND start = ?
                """,
            arguments: [
                text, record.instant.nanoseconds, cursor.id, max(record.interval, cursor.floor).nanoseconds,
            ]
        )
    }

    /// Writes a `notObserved` interval for the time since the target was last observed.
    private func fillGap(before start: LedgerInstant, _ cursor: inout Cursor, _ db: Database) throws {
        guard let end = cursor.end, end < start else { return }
        let state = TargetState(.unknown, .notObserved)
        try write(LedgerInterval(state, from: end, to: start, reason: "notObserved"), &cursor, db)
    }

    /// Returns the cursor for the first interval of a target in this run.
    ///
    /// If the last stored interval is an outage with the same start, the new interval replaces it, because the outage continues.
    private func makeCursor(_ target: String, _ interval: LedgerInterval, _ db: Database) throws -> Cursor {
        try db.execute(sql: "INSERT INTO target (name) VALUES (?) ON CONFLICT DO NOTHING", arguments: [target])
        guard let id = try Int64.fetchOne(db, sql: "SELECT id FROM target WHERE name = ?", arguments: [target]) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR)
        }
        let last = try Row.fetchOne(
            db,
            sql: "SELECT start, \"end\", outage FROM interval WHERE target = ? ORDER BY start DESC LIMIT 1",
            arguments: [id]
        )
        if let last, let outage = last["outage"] as Int64?, last["start"] == interval.start.nanoseconds {
            return Cursor(id: id, floor: interval.start, outage: LedgerInstant(nanoseconds: outage))
        }
        let end = (last?["end"] as Int64?).map { LedgerInstant(nanoseconds: $0) }
        return Cursor(id: id, floor: end ?? LedgerInstant(nanoseconds: .min), end: end)
    }
}

extension MonitoringService.Snapshot {
    /// Returns the events of this run that are in memory. They are written to a new file if the history was lost.
    ///
    /// - Parameter planned: The announced maintenance.
    /// - Returns: The events for the maintenance, and then one array for each target, with its events sorted by time.
    func replayed(_ planned: [PlannedMaintenance]) -> [[ServiceEvent]] {
        let work = planned.map { event(.maintenancePlanned($0), of: nil) }
        let notes = Dictionary(grouping: accounting.notes, by: \.outage)
        let actors = Dictionary(grouping: accounting.actors, by: \.outage)
        return [work]
            + accounting.targets.map { target in
                guard let account = accounting.accounts[target] else { return [] }
                let outages = account.outages + (account.ledger.outage.map { [$0] } ?? [])
                let more = outages.map(\.id).flatMap { id in
                    (notes[id] ?? []).map { ServiceEvent.Kind.noted($0) } + (actors[id] ?? []).map { .actorFound($0) }
                }
                return (account.replayed + more).map { event($0, of: target) }
            }
    }

    private func event(_ kind: ServiceEvent.Kind, of target: String?) -> ServiceEvent {
        ServiceEvent(number: accounting.lastNumber, instant: now, target: target, kind: kind)
    }
}

extension Accounting.Account {
    /// The intervals in memory with their evidence. One `notObserved` interval stands for older ones.
    fileprivate var replayed: [ServiceEvent.Kind] {
        let all = intervals + [ledger.current]
        var kinds: [ServiceEvent.Kind] = []
        if start < all[0].start {
            let state = TargetState(.unknown, .notObserved)
            let missing = LedgerInterval(state, from: start, to: all[0].start, reason: "notObserved")
            kinds.append(.ledger(.closed(missing)))
        }
        for interval in all {
            kinds.append(.ledger(interval.end == nil ? .opened(interval) : .closed(interval)))
            if let record = evidence[interval.start] { kinds.append(.explained(record)) }
        }
        return kinds
    }
}

// The statistics of checks.

extension HistoryStore {
    /// Writes buckets of a run. A stored bucket with the same start and length is replaced.
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

    /// Returns the buckets of a target that begin within a window, latest first. Buckets of several runs are merged.
    ///
    /// - Parameter run: The run whose buckets from `since` on are omitted, because memory has newer versions of them.
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

    /// Merges up to 500 five-minute buckets that are older than an instant into hours.
    ///
    /// - Returns: True if there may be more.
    func gather(before instant: LedgerInstant) throws -> Bool {
        let short = CheckBucket.short.ledgerNanoseconds
        // Only whole hours are merged, so that no hour is incomplete.
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

    /// Deletes up to 500 buckets that are older than an instant.
    ///
    /// - Returns: True if there may be more.
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
