import GRDB

extension OutboxStore {
    /// What is in the outbox, in the order it is to be sent in: by host, priority and age.
    func entries() async throws(OutboxError) -> [OutboxEntry] {
        let now = now
        return try await read { try Self.entries($0, at: now) }
    }

    /// The same of a database that is open.
    static func entries(_ db: Database, at now: Int64) throws -> [OutboxEntry] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT \(OutboxEntry.columns) FROM request WHERE ifnull(expiresAt > ?, 1)
                ORDER BY host, priority DESC, id
                """,
            arguments: [now]
        ).map { OutboxEntry($0) }
    }

    /// The hosts that requests wait for.
    func hosts() async throws(OutboxError) -> [String] {
        try await read { try String.fetchAll($0, sql: "SELECT DISTINCT host FROM request ORDER BY host") }
    }

    /// Deletes a request, also one that is being sent; says whether it was there.
    func drop(_ id: Int64) async throws(OutboxError) -> Bool {
        try await write { db in
            try db.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id])
            return db.changesCount > 0
        }
    }

    /// Deletes all requests, and says how many.
    func dropAll() async throws(OutboxError) -> Int {
        try await write { db in
            try db.execute(sql: "DELETE FROM request")
            return db.changesCount
        }
    }

    /// Deletes what has expired, and returns it.
    func dropExpired() async throws(OutboxError) -> [OutboxEntry] {
        let now = now
        let isThere = "SELECT EXISTS (SELECT 1 FROM request WHERE expiresAt <= ? AND NOT isClaimed)"
        // Most looks find nothing, and a transaction that writes waits for the disk.
        guard try await read({ try Bool.fetchOne($0, sql: isThere, arguments: [now]) ?? false }) else { return [] }
        return try await write { try Self.deleteExpired($0, now) }
    }

    /// Deletes what has expired, but for what is being sent.
    @discardableResult
    static func deleteExpired(_ db: Database, _ now: Int64) throws -> [OutboxEntry] {
        let sql = "DELETE FROM request WHERE expiresAt <= ? AND NOT isClaimed RETURNING \(OutboxEntry.columns)"
        return try Row.fetchAll(db, sql: sql, arguments: [now]).map { OutboxEntry($0) }
    }
}
