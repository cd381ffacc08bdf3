import FoundationEssentials
import GRDB
import LinuxSupport
import ReachabilityRetry

/// Rows of the table `request` as values.
extension OutboxEntry {
    /// The columns an entry is made of: all but the secrets.
    static let columns = firstColumns + ", lastError, nextTryAt"

    /// The same of a dead letter.
    static let deadColumns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, NULL AS notBefore, attempts, 0 AS isClaimed, \
        size, method, lastError, diedAt
        """

    /// The same of a file before version 3.
    static let firstColumns = """
        id, host, origin, priority, dedupeKey, idempotencyKey, enqueuedAt, expiresAt, notBefore, attempts, isClaimed, size, method
        """

    init(_ row: Row) {
        self.init(
            id: row["id"],
            method: row["method"],
            origin: row["origin"],
            host: row["host"],
            priority: row["priority"],
            dedupeKey: row["dedupeKey"],
            idempotencyKey: row["idempotencyKey"],
            size: max(0, row["size"]),
            enqueuedAt: .milliseconds(row["enqueuedAt"] as Int64),
            expiresAt: (row["expiresAt"] as Int64?).map { .milliseconds($0) },
            notBefore: (row["notBefore"] as Int64?).map { .milliseconds($0) },
            nextTry: [row["notBefore"] as Int64?, row["nextTryAt"] as Int64?].compactMap(\.self).max()
                .map { .milliseconds($0) },
            lastError: row["lastError"],
            diedAt: (row["diedAt"] as Int64?).map { .milliseconds($0) },
            attempts: row["attempts"],
            state: row.hasColumn("diedAt") ? .dead : row["isClaimed"] ? .sending : .waiting
        )
    }
}

extension OutboxRequest {
    init(_ row: Row) {
        let body: Data = row["body"]
        self.init(row["method"], row["url"], headers: Self.headers(stored: row["headers"]), body: Array(body))
    }

    /// Headers as one text: a line for each. No value has a line's end in it, and no name a colon.
    var storedHeaders: String { headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n") }

    private static func headers(stored text: String) -> [PlainRequest.Field] {
        text.split(at: "\n").map { line in
            let parts = line.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return PlainRequest.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
    }
}
