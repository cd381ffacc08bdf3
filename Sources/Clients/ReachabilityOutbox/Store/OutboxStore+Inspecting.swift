import GRDB
import LinuxSupport

extension OutboxStore {
    /// What waits, in the order it is to be sent in: by origin, priority and age.
    func entries() async throws(OutboxError) -> [OutboxEntry] {
        let reading = reading
        return try await read { try Self.entries($0, at: reading) }
    }

    /// The same of a database that is open, also one of an earlier version.
    static func entries(_ db: Database, at reading: ClockReading) throws -> [OutboxEntry] {
        // What a step of the clock has made old is moved at the next occasion to write.
        let now = try reading.realTime - reading.step(db)
        let columns = try db.tableExists("dead") ? OutboxEntry.columns : OutboxEntry.firstColumns
        return try Row.fetchAll(
            db,
            sql: "SELECT \(columns) FROM request WHERE ifnull(expiresAt > ?, 1) ORDER BY origin, priority DESC, id",
            arguments: [now.milliseconds]
        ).map { OutboxEntry($0) }
    }

    /// What requests wait for: each origin, with how many there are.
    func queues() async throws(OutboxError) -> [OutboxQueue] {
        let sql = "SELECT origin, min(host) AS host, count(*) AS count FROM request GROUP BY origin ORDER BY origin"
        return try await read { db in
            try Row.fetchAll(db, sql: sql).map {
                OutboxQueue(origin: $0["origin"], host: $0["host"], count: $0["count"])
            }
        }
    }

    /// Deletes a request or a dead letter, also one that is being sent; says whether it was there.
    func drop(_ id: Int64) async throws(OutboxError) -> Bool {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
            if db.changesCount > 0 { return true }
            try db.execute(sql: "DELETE FROM dead WHERE id = ?", arguments: [id])
            return db.changesCount > 0
        }
    }

    /// Deletes all requests, and says how many.
    func dropAll() async throws(OutboxError) -> Int {
        try await write(erases: true) { db in
            try db.execute(sql: "DELETE FROM request")
            return db.changesCount
        }
    }

    /// What has expired, but for what is being sent.
    func expired() async throws(OutboxError) -> [OutboxEntry] {
        let now = now
        return try await write { try Self.expired($0, now) }
    }

    static func expired(_ db: Database, _ now: Int64) throws -> [OutboxEntry] {
        let sql = "SELECT \(OutboxEntry.columns) FROM request WHERE expiresAt <= ? AND NOT isClaimed ORDER BY id"
        return try Row.fetchAll(db, sql: sql, arguments: [now]).map { OutboxEntry($0) }
    }

    /// Deletes what has expired of these.
    func deleteExpired(_ entries: [OutboxEntry]) async throws(OutboxError) {
        let now = now
        try await write(erases: true) { try Self.deleteExpired($0, entries, now) }
    }

    static func deleteExpired(_ db: Database, _ entries: [OutboxEntry], _ now: Int64) throws {
        for entry in entries {
            try db.execute(
                sql: "DELETE FROM request WHERE id = ? AND expiresAt <= ? AND NOT isClaimed",
                arguments: [entry.id, now]
            )
        }
    }
}

/// What waits for one origin.
struct OutboxQueue: Hashable, Sendable {
    let origin: String
    /// What is asked about.
    let host: String
    let count: Int
}

/// Requests that were given up: kept, in a table of their own, until somebody puts them in again or drops them.
extension OutboxStore {
    /// What a dead letter has of a request.
    private static let columns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, attempts, size, method, url, headers, body, \
        lifetime
        """

    func deadLetters() async throws(OutboxError) -> [OutboxEntry] {
        try await read { try Self.deadLetters($0) }
    }

    /// Those of a database that is open, the oldest first; an earlier version has none.
    static func deadLetters(_ db: Database) throws -> [OutboxEntry] {
        guard try db.tableExists("dead") else { return [] }
        return try Row.fetchAll(db, sql: "SELECT \(OutboxEntry.deadColumns) FROM dead ORDER BY diedAt, id")
            .map { OutboxEntry($0) }
    }

    /// Makes a request a dead letter.
    static func bury(_ id: Int64, _ reason: String, _ db: Database, at now: Int64) throws {
        let sql = "INSERT INTO dead (\(columns), lastError, diedAt) SELECT \(columns), ?, ? FROM request WHERE id = ?"
        try db.execute(sql: sql, arguments: [reason, now, id])
        try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
    }

    /// Makes a dead letter a request again, as if it had just been put in, under its number and with the same key; says
    /// whether it was there.
    func requeue(_ id: Int64) async throws(OutboxError) -> Bool {
        let now = now
        return try await write(erases: true) { db in
            let isTaken = """
                SELECT EXISTS (SELECT 1 FROM request JOIN dead USING (dedupeKey) WHERE dead.id = ?)
                """
            if try Bool.fetchOne(db, sql: isTaken, arguments: [id]) ?? false {
                throw OutboxError.invalidRequest("another with the dedupe key of \(id) waits: drop one of them")
            }
            try db.execute(
                sql: "INSERT INTO request (\(Self.columns)) SELECT \(Self.columns) FROM dead WHERE id = ?",
                arguments: [id]
            )
            guard db.changesCount > 0 else { return false }
            try db.execute(sql: "DELETE FROM dead WHERE id = ?", arguments: [id])
            try db.execute(
                sql: """
                    UPDATE request SET attempts = 0, enqueuedAt = ?,
                        expiresAt = ? + coalesce(lifetime, expiresAt - enqueuedAt) WHERE id = ?
                    """,
                arguments: [now, now, id]
            )
            return true
        }
    }
}
