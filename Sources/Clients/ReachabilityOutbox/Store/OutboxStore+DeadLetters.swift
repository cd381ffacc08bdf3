import GRDB

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
