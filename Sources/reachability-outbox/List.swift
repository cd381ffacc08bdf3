import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox list`: what waits.
struct List: AsyncParsableCommand {
    static let configuration = OutboxListArguments.configuration

    @OptionGroup var arguments: OutboxListArguments

    func run() async throws {
        for entry in try await arguments.outbox.entries() {
            if arguments.json { StandardOutput.write(Self.json(entry)) } else { StandardOutput.write(text: entry.line) }
        }
    }

    private static func json(_ entry: OutboxEntry) -> [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", entry.id)
        object.add("state", entry.state.rawValue)
        object.add("method", entry.method)
        object.add("origin", entry.origin)
        object.add("priority", entry.priority)
        object.add("bytes", entry.size)
        object.add("attempts", entry.attempts)
        object.add("key", entry.dedupeKey)
        object.add("enqueued", Timestamp(real: entry.enqueuedAt).text)
        object.add("expires", entry.expiresAt.map { Timestamp(real: $0).text })
        object.add("notBefore", entry.notBefore.map { Timestamp(real: $0).text })
        object.add("kind", "request")
        return object.bytes
    }
}

extension OutboxEntry {
    /// For example `12: POST https://example.org, priority 0, 120 bytes, attempts 1, waiting, since 2026-11-21T08:15:30.123Z`.
    fileprivate var line: String {
        var line = "\(self), since \(Timestamp(real: enqueuedAt).text)"
        if let dedupeKey {
            line += ", key \(dedupeKey.map { $0.isNewline ? " " : $0 }.reduce(into: "") { $0.append($1) })"
        }
        if let expiresAt { line += ", expires \(Timestamp(real: expiresAt).text)" }
        if let notBefore { line += ", not before \(Timestamp(real: notBefore).text)" }
        return line
    }
}
