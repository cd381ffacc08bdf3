import GRDB
import LinuxSupport
import Logging

extension OutboxStore {
    /// Puts a request in, all or nothing.
    func add(_ new: NewRequest) async throws(OutboxError) -> OutboxAddition {
        let (file, options, now) = (file, options, now)
        let (addition, hasDeleted) = try await write { db -> (OutboxAddition, Bool) in
            if let key = new.dedupeKey {
                // What is being sent, or was when its process ended, holds its key when its time is over, and gets more.
                try db.execute(
                    sql: "UPDATE request SET expiresAt = ? WHERE dedupeKey = ? AND isClaimed AND expiresAt <= ?",
                    arguments: [new.lifetime.map { Self.time(now, plus: $0) }, key, now]
                )
                if let row = try Row.fetchOne(
                    db,
                    sql: "SELECT \(OutboxEntry.columns) FROM request WHERE dedupeKey = ? AND ifnull(expiresAt > ?, 1)",
                    arguments: [key, now]
                ) {
                    return (.waiting(OutboxEntry(row)), false)
                }
                let since = Self.time(now, plus: .zero - options.dedupeWindow)
                let sql = "SELECT 1 FROM delivered WHERE dedupeKey = ? AND deliveredAt > ?"
                if try Bool.fetchOne(db, sql: sql, arguments: [key, since]) != nil { return (.delivered, false) }
            }
            let expired = try Self.expired(db, now)
            for entry in expired { options.tell(.expired(entry)) }
            try Self.deleteExpired(db, expired, now)
            let dropped = try Self.makeRoom(for: new, db, file, options)
            try new.insert(db, at: now)
            let id = db.lastInsertedRowID
            let sql = "SELECT \(OutboxEntry.columns) FROM request WHERE id = ?"
            guard let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else {
                throw OutboxError.corrupt(file: file, keptAs: nil)
            }
            return (.added(OutboxEntry(row)), !expired.isEmpty || dropped > 0)
        }
        if hasDeleted { try await eraseLog() }
        return addition
    }

    /// Deletes what may make room, no more than needed; says how many.
    private static func makeRoom(
        for new: NewRequest,
        _ db: Database,
        _ file: String,
        _ options: OutboxOptions
    ) throws -> Int {
        let size = new.request.size
        guard size <= options.maximumBytes else {
            throw OutboxError.full(file: file, limit: "the request has \(size) bytes of \(options.maximumBytes)")
        }
        let all = "SELECT max(size, 0) AS size FROM request UNION ALL SELECT max(size, 0) FROM dead"
        let totals = try Row.fetchOne(
            db,
            sql: "SELECT count(*) AS count, CAST(total(size) AS INTEGER) AS bytes FROM (\(all))"
        )
        var (count, bytes): (Int, Int) = (totals?["count"] ?? 0, totals?["bytes"] ?? 0)
        func fits() -> Bool { count < options.maximumCount && bytes <= options.maximumBytes - size }
        var dropped: [OutboxEntry] = []
        if options.whenFull == .dropOldest, !fits() {
            let living = "FROM request WHERE NOT isClaimed AND priority <= ? ORDER BY priority, id"
            var candidates = try deadLetters(db)
            candidates += try Row.fetchAll(
                db,
                sql: "SELECT \(OutboxEntry.columns) \(living)",
                arguments: [new.priority]
            )
            .map { OutboxEntry($0) }
            for entry in candidates where !fits() {
                dropped.append(entry)
                count -= 1
                bytes -= entry.size
            }
            if fits() {
                for entry in dropped {
                    options.tell(.dropped(entry))
                    let table = entry.state == .dead ? "dead" : "request"
                    try db.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [entry.id])
                }
            }
        }
        guard fits() else {
            let dead = try Int.fetchOne(db, sql: "SELECT count(*) FROM dead") ?? 0
            let letters = dead == 0 ? "" : ", \(dead) of them dead letters"
            let limit =
                count >= options.maximumCount
                ? "\(count) of \(options.maximumCount) requests\(letters)"
                : "\(bytes) of \(options.maximumBytes) bytes, the request has \(size)"
            throw OutboxError.full(file: file, limit: limit)
        }
        return dropped.count
    }
}

extension OutboxOptions {
    /// Says what is about to be thrown away.
    fileprivate func tell(_ event: OutboxEvent) {
        switch event {
        case .expired(let entry): logger?.warning("expired", metadata: ["request": "\(entry)"])
        case .dropped(let entry): logger?.warning("dropped to make room", metadata: ["request": "\(entry)"])
        default: break
        }
        report?(event)
    }
}
