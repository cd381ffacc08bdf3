import GRDB

/// What a sender does. Only who holds the lock for sending may call these.
extension OutboxStore {
    /// What there is to send to a host.
    enum Claim: Sendable {
        case nothing
        /// Nothing before that time, in milliseconds since 1970.
        case notBefore(Int64)
        case delivery(OutboxDelivery)
    }

    /// The right to send, for as long as it is held; nil while somebody else has it.
    func lockForSending() async throws(OutboxError) -> FileLock? {
        do {
            // It does not wait, so it may be done on any thread.
            return try FileLock.take(lockFile, for: .sending, waits: false)
        } catch {
            throw error.error(opening: file)
        }
    }

    /// Gives back what a process was sending when it ended.
    func returnClaimed() async throws(OutboxError) {
        try await write { try $0.execute(sql: "UPDATE request SET isClaimed = 0 WHERE isClaimed") }
    }

    /// Takes the next request for a host, and counts the attempt before it is made.
    func claim(_ host: String) async throws(OutboxError) -> Claim {
        let (now, limit) = (now, options.maximumRetryAfter.milliseconds)
        return try await write { db in
            // A server's word holds for its host; one that lies further off than allowed is a clock that was set back.
            let sql = "SELECT max(notBefore) FROM request WHERE host = ? AND notBefore > ? AND notBefore <= ?"
            if let time = try Int64.fetchOne(db, sql: sql, arguments: [host, now, now + limit]) {
                return .notBefore(time)
            }
            let row = try Row.fetchOne(
                db,
                sql: """
                    UPDATE request SET isClaimed = 1, attempts = attempts + 1, notBefore = NULL WHERE id = (
                        SELECT id FROM request WHERE host = ? AND ifnull(expiresAt > ?, 1) ORDER BY priority DESC, id LIMIT 1
                    ) RETURNING *
                    """,
                arguments: [host, now]
            )
            guard let row else { return .nothing }
            var request = OutboxRequest(row)
            let entry = OutboxEntry(row)
            let header = OutboxRequest.idempotencyKeyHeader
            if request.headers.value(of: header.lowercased()) == nil {
                request.headers.append(OutboxHeader(header, entry.idempotencyKey))
            }
            return .delivery(OutboxDelivery(request: request, entry: entry))
        }
    }

    /// Writes down what sending came to.
    func finish(_ entry: OutboxEntry, _ result: OutboxResult) async throws(OutboxError) {
        let (options, now) = (options, now)
        try await write { db in
            if case .retry(let delay) = result {
                let delay = delay.map { min(max($0, .zero), options.maximumRetryAfter).milliseconds }
                try db.execute(
                    sql: "UPDATE request SET isClaimed = 0, notBefore = ? WHERE id = ?",
                    arguments: [delay.map { now + $0 }, entry.id]
                )
                return
            }
            try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [entry.id])
            guard case .delivered = result, let key = entry.dedupeKey else { return }
            try Self.remember(key, db, at: now, for: options.dedupeWindow.milliseconds)
        }
    }

    /// How many keys of what was delivered are remembered.
    private static let rememberedKeys = 10_000

    private static func remember(_ key: String, _ db: Database, at now: Int64, for window: Int64) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO delivered (dedupeKey, deliveredAt) VALUES (?, ?)",
            arguments: [key, now]
        )
        let newest = db.lastInsertedRowID
        try db.execute(
            sql: "DELETE FROM delivered WHERE id <= ? OR deliveredAt <= ?",
            arguments: [newest - Int64(rememberedKeys), now - window]
        )
    }
}
