import FoundationEssentials
import GRDB
import LinuxSupport
import Logging
import ReachabilityRetry

/// The operations of a sender. The caller must hold the lock for sending.
extension OutboxStore {
    /// The next request of an origin.
    enum Claim: Sendable {
        case nothing
        /// No request may be sent before this time, in milliseconds since 1970.
        case notBefore(Int64)
        case delivery(OutboxDelivery)
    }

    /// Takes the lock for sending; nil if another outbox or process holds it.
    func lockForSending() async throws(OutboxError) -> FileLock? {
        do {
            // This call does not block.
            return try FileLock.take(lockFile, for: .sending, waits: false)
        } catch {
            throw error.error(opening: file)
        }
    }

    /// Opens the lock file without taking the lock. It stays open while the lock is tried repeatedly.
    func openLock() throws(OutboxError) -> FileLock {
        do { return try FileLock.opened(lockFile) } catch { throw error.error(opening: file) }
    }

    /// Tries to take the lock for sending. Returns whether it is held now.
    func tryToSend(with lock: borrowing FileLock) throws(OutboxError) -> Bool {
        do { return try lock.acquire(.sending, waits: false) } catch { throw error.error(opening: file) }
    }

    /// Returns the time when the next waiting request expires, in milliseconds since 1970; nil if none expires.
    func nextExpiry() async throws(OutboxError) -> Int64? {
        try await read { try Int64.fetchOne($0, sql: "SELECT min(expiresAt) FROM request WHERE NOT isClaimed") }
    }

    /// Returns requests to the queue that a process was sending when it ended.
    func returnClaimed() async throws(OutboxError) {
        try await write { try $0.execute(sql: "UPDATE request SET isClaimed = 0 WHERE isClaimed") }
    }

    /// Claims the next request of an origin, and counts the attempt in advance.
    ///
    /// - Parameter urls: The URLs whose requests are skipped.
    func claim(_ origin: String, except urls: Set<String> = []) async throws(OutboxError) -> Claim {
        let (now, latest) = (now, Self.time(now, plus: options.maximumRetryAfter))
        return try await write { db in
            // Retry-After applies to the origin. A time beyond the maximum is the result of a clock that was set
            // back.
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
            // Earlier versions accepted these headers.
            request.headers.removeAll { OutboxRequest.framing.contains($0.name.lowercased()) }
            let header = OutboxRequest.idempotencyKeyHeader
            if request.headers.value(of: header.lowercased()) == nil {
                request.headers.append(RequestHead.Field(name: header, value: entry.idempotencyKey))
            }
            return .delivery(OutboxDelivery(request: request, entry: entry))
        }
    }

    /// Stores the planned time of the next attempt, for lists. Returns immediately. The change is made before any later
    /// read or write.
    func plan(_ id: OutboxEntry.ID, in pause: Duration) {
        let time = Self.time(now, plus: pause)
        writeLater { try $0.execute(sql: "UPDATE request SET nextTryAt = ? WHERE id = ?", arguments: [time, id]) }
    }

    /// Stores the result of sending a request.
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
            try await write(erases: true) { try Self.moveToDeadLetters(entry.id, reason, $0, at: now) }
        case .delivered:
            try await write(erases: true) { db in
                try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [entry.id])
                guard let key = entry.dedupeKey else { return }
                try Self.remember(key, db, at: now, for: options.dedupeWindow)
            }
        }
    }

    /// The maximum number of dedupe keys of delivered requests that are kept.
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

extension OutboxStore {
    /// Adds a request in one transaction.
    func add(_ new: NewRequest) async throws(OutboxError) -> OutboxAddition {
        let (file, options, now) = (file, options, now)
        let (addition, hasDeleted) = try await write { db -> (OutboxAddition, Bool) in
            if let key = new.dedupeKey {
                // A request that is being sent, or was when its process ended, keeps its key after its expiry, and
                // its lifetime is extended.
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
            for entry in expired { options.publish(.expired(entry)) }
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

    /// Deletes requests to make space for a new one, and no more than needed. Returns the number of deleted requests.
    private static func makeRoom(
        for new: NewRequest,
        _ db: Database,
        _ file: String,
        _ options: OutboxOptions
    ) throws -> Int {
        let size = new.request.size
        guard size <= options.maximumBytes else {
            throw OutboxError.full(file: file, limit: "request of \(size) bytes, limit \(options.maximumBytes)")
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
                    options.publish(.dropped(entry))
                    let table = entry.state == .dead ? "dead" : "request"
                    try db.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [entry.id])
                }
            }
        }
        guard fits() else {
            let dead = try Int.fetchOne(db, sql: "SELECT count(*) FROM dead") ?? 0
            let letters = dead == 0 ? "" : ", dead letters: \(dead)"
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
    /// Logs and reports a request that is about to be deleted.
    fileprivate func publish(_ event: OutboxEvent) {
        switch event {
        case .expired(let entry): logger?.warning("request expired", metadata: ["request": "\(entry)"])
        case .dropped(let entry): logger?.warning("request dropped, outbox is full", metadata: ["request": "\(entry)"])
        default: break
        }
        report?(event)
    }
}

/// A valid request that is about to be added.
struct NewRequest: Sendable {
    let request: OutboxRequest
    let origin: OutboxOrigin
    let dedupeKey: String?
    let idempotencyKey: String
    let priority: Int
    /// The time that the request may wait; nil for no limit.
    let lifetime: Duration?

    func insert(_ db: Database, at now: Int64) throws {
        try db.execute(
            sql: """
                INSERT INTO request (host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, size, method, url,
                    headers, body, lifetime)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                origin.host, origin.description, priority, dedupeKey, idempotencyKey, now,
                lifetime.map { OutboxStore.time(now, plus: $0) }, request.size, request.method, request.url,
                request.storedHeaders,
                Data(request.body),
                lifetime?.milliseconds,
            ]
        )
    }
}
