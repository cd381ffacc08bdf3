import FoundationEssentials
import GRDB
import LinuxSupport

/// A request that is about to be put in, checked.
struct NewRequest: Sendable {
    let request: OutboxRequest
    let origin: OutboxOrigin
    let dedupeKey: String?
    let idempotencyKey: String
    let priority: Int
    /// How long it may wait; nil for ever.
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
