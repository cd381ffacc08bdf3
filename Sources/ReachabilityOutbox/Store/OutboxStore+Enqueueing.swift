import GRDB
import Logging

extension OutboxStore {
    /// Puts a request in, all or nothing.
    func add(_ new: NewRequest) async throws(OutboxError) -> OutboxAddition {
        let (file, options, now) = (file, options, now)
        return try await write { db in
            if let key = new.dedupeKey {
                // What is being sent, or was when its process ended, holds its key when its time is over, and gets more.
                try db.execute(
                    sql: "UPDATE request SET expiresAt = ? WHERE dedupeKey = ? AND isClaimed AND expiresAt <= ?",
                    arguments: [new.lifetime.map { now + $0.milliseconds }, key, now]
                )
                if let row = try Row.fetchOne(
                    db,
                    sql: "SELECT \(OutboxEntry.columns) FROM request WHERE dedupeKey = ? AND ifnull(expiresAt > ?, 1)",
                    arguments: [key, now]
                ) {
                    return .waiting(OutboxEntry(row))
                }
                let since = now - options.dedupeWindow.milliseconds
                let sql = "SELECT 1 FROM delivered WHERE dedupeKey = ? AND deliveredAt > ?"
                if try Bool.fetchOne(db, sql: sql, arguments: [key, since]) != nil { return .delivered }
            }
            try Self.deleteExpired(db, now)
            try Self.makeRoom(for: new, db, file, options)
            try new.insert(db, at: now)
            let id = db.lastInsertedRowID
            let sql = "SELECT \(OutboxEntry.columns) FROM request WHERE id = ?"
            guard let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else {
                throw OutboxError.corrupt(file: file, keptAs: nil)
            }
            return .added(OutboxEntry(row))
        }
    }

    /// Deletes what may make room, no more than needed.
    private static func makeRoom(for new: NewRequest, _ db: Database, _ file: String, _ options: OutboxOptions) throws {
        let size = new.request.size
        guard size <= options.maximumBytes else {
            throw OutboxError.full(file: file, limit: "the request has \(size) bytes of \(options.maximumBytes)")
        }
        let totals = try Row.fetchOne(db, sql: "SELECT count(*) AS count, ifnull(sum(size), 0) AS bytes FROM request")
        var (count, bytes): (Int, Int) = (totals?["count"] ?? 0, totals?["bytes"] ?? 0)
        func fits() -> Bool { count < options.maximumCount && bytes + size <= options.maximumBytes }
        if options.whenFull == .dropOldest, !fits() {
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT id, size FROM request WHERE NOT isClaimed AND priority <= ? ORDER BY priority, id",
                arguments: [new.priority]
            )
            var dropped: [Int64] = []
            while !fits(), let row = try rows.next() {
                dropped.append(row["id"])
                count -= 1
                bytes -= row["size"] as Int
            }
            if fits() {
                for id in dropped { try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id]) }
                options.logger?.warning(
                    "dropped to make room",
                    metadata: ["ids": "\(dropped)", "file": "\(file)"]
                )
            }
        }
        guard fits() else {
            let limit =
                count >= options.maximumCount
                ? "\(count) of \(options.maximumCount) requests"
                : "\(bytes) of \(options.maximumBytes) bytes, the request has \(size)"
            throw OutboxError.full(file: file, limit: limit)
        }
    }
}
