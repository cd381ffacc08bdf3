import GRDB
import LinuxSupport
import ReachabilityRetry

/// What a sender does. Only who holds the lock for sending may call these.
extension OutboxStore {
    /// What there is to send to an origin.
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

    /// The same, without the right yet: it is kept open while it is tried again and again.
    func openLock() throws(OutboxError) -> FileLock {
        do { return try FileLock.opened(lockFile) } catch { throw error.error(opening: file) }
    }

    /// Takes the right to send, if nobody has it.
    func tryToSend(with lock: borrowing FileLock) throws(OutboxError) -> Bool {
        do { return try lock.acquire(.sending, waits: false) } catch { throw error.error(opening: file) }
    }

    /// When the next of what waits expires, in milliseconds since 1970; nil when nothing does.
    func nextExpiry() async throws(OutboxError) -> Int64? {
        try await read { try Int64.fetchOne($0, sql: "SELECT min(expiresAt) FROM request WHERE NOT isClaimed") }
    }

    /// Gives back what a process was sending when it ended.
    func returnClaimed() async throws(OutboxError) {
        try await write { try $0.execute(sql: "UPDATE request SET isClaimed = 0 WHERE isClaimed") }
    }

    /// Takes the next request for an origin, and counts the attempt before it is made.
    ///
    /// - Parameter urls: The URLs whose requests are not taken.
    func claim(_ origin: String, except urls: Set<String> = []) async throws(OutboxError) -> Claim {
        let (now, latest) = (now, Self.time(now, plus: options.maximumRetryAfter))
        return try await write { db in
            // A server's word holds for its origin; one that lies further off than allowed is a clock that was set back.
            let sql = "SELECT max(notBefore) FROM request WHERE origin = ? AND notBefore > ? AND notBefore <= ?"
            if let time = try Int64.fetchOne(db, sql: sql, arguments: [origin, now, latest]) {
                return .notBefore(time)
            }
            let row = try Row.fetchOne(
                db,
                sql: """
                    UPDATE request SET isClaimed = 1, attempts = min(attempts, 1000000000) + 1, notBefore = NULL, nextTryAt = NULL WHERE id = (
                        SELECT id FROM request WHERE origin = ? AND ifnull(expiresAt > ?, 1)
                            AND url NOT IN (\(databaseQuestionMarks(count: urls.count)))
                        ORDER BY priority DESC, id LIMIT 1
                    ) RETURNING *
                    """,
                arguments: [origin, now] + StatementArguments(urls)
            )
            guard let row else { return .nothing }
            var request = OutboxRequest(row)
            let entry = OutboxEntry(row)
            // Earlier versions took them.
            request.headers.removeAll { OutboxRequest.framing.contains($0.name.lowercased()) }
            let header = OutboxRequest.idempotencyKeyHeader
            if request.headers.value(of: header.lowercased()) == nil {
                request.headers.append(PlainRequest.Field(name: header, value: entry.idempotencyKey))
            }
            return .delivery(OutboxDelivery(request: request, entry: entry))
        }
    }

    /// Writes down when a request is meant to be tried again, for whoever lists it: nobody waits for that, and before whatever is written
    /// or read later it is done.
    func plan(_ id: OutboxEntry.ID, in pause: Duration) {
        let time = Self.time(now, plus: pause)
        writeLater { try $0.execute(sql: "UPDATE request SET nextTryAt = ? WHERE id = ?", arguments: [time, id]) }
    }

    /// Writes down what sending came to.
    func finish(_ entry: OutboxEntry, _ result: OutboxResult) async throws(OutboxError) {
        let (options, now) = (options, now)
        switch result {
        case .retry(let delay, let cause):
            let delay = delay.map { min(max($0, .zero), options.maximumRetryAfter) }
            try await write { db in
                try db.execute(
                    sql: "UPDATE request SET isClaimed = 0, notBefore = ?, lastError = ? WHERE id = ?",
                    arguments: [delay.map { Self.time(now, plus: $0) }, cause, entry.id]
                )
            }
        case .held(let cause):
            try await write { db in
                try db.execute(
                    sql: """
                        UPDATE request SET isClaimed = 0, attempts = max(attempts - 1, 0), lastError = ? WHERE id = ?
                        """,
                    arguments: [cause, entry.id]
                )
            }
        case .rejected(let reason):
            try await write(erases: true) { try Self.bury(entry.id, reason, $0, at: now) }
        case .delivered:
            try await write(erases: true) { db in
                try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [entry.id])
                guard let key = entry.dedupeKey else { return }
                try Self.remember(key, db, at: now, for: options.dedupeWindow)
            }
        }
    }

    /// How many keys of what was delivered are remembered.
    private static let rememberedKeys = 10_000

    private static func remember(_ key: String, _ db: Database, at now: Int64, for window: Duration) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO delivered (dedupeKey, deliveredAt) VALUES (?, ?)",
            arguments: [key, now]
        )
        let newest = db.lastInsertedRowID
        try db.execute(
            sql: "DELETE FROM delivered WHERE id <= ? OR deliveredAt <= ?",
            arguments: [newest - Int64(rememberedKeys), Self.time(now, plus: .zero - window)]
        )
    }
}
