import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityOutbox

/// `reachability outbox list`: what waits, and what was given up.
struct List: AsyncParsableCommand {
    static let configuration = OutboxListArguments.configuration

    @OptionGroup var arguments: OutboxListArguments

    func run() async throws {
        for entry in try await arguments.outbox.entries(withWaiting: !arguments.dead) {
            if arguments.json {
                StandardOutput.write(Self.json(entry))
            } else {
                for line in entry.lines { StandardOutput.write(text: line) }
            }
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
        object.add("nextTry", entry.nextTry.map { Timestamp(real: $0).text })
        object.add("lastError", entry.lastError)
        object.add("died", entry.diedAt.map { Timestamp(real: $0).text })
        object.add("kind", "request")
        return object.bytes
    }
}

extension OutboxEntry {
    /// All that is told of it, in lines of 80 columns: the first begins with the number, the others with blanks.
    fileprivate var lines: [String] {
        var phrases = [
            "\(id): \(method) \(origin)", "priority \(priority)", "\(size) bytes", "attempts \(attempts)",
            state.rawValue,
            "since \(Timestamp(real: enqueuedAt).text)",
        ]
        if let dedupeKey { phrases.append("key \(dedupeKey)") }
        if let diedAt { phrases.append("died \(Timestamp(real: diedAt).text)") }
        if state != .dead {
            if let expiresAt { phrases.append("expires \(Timestamp(real: expiresAt).text)") }
            if let nextTry { phrases.append("next try \(Timestamp(real: nextTry).text)") }
        }
        if let lastError { phrases.append("\(state == .dead ? "reason" : "last error"): \(lastError)") }
        return Self.wrapped(phrases)
    }

    private static func wrapped(_ phrases: [String]) -> [String] {
        let (width, indent) = (80, "    ")
        var (lines, line) = ([String](), "")
        for (index, phrase) in phrases.enumerated() {
            let end = index == phrases.count - 1 ? "" : ","
            let room = width - indent.count - end.count
            var text = phrase.printable
            if text.count > room { text = text.prefix(room - 3) + "..." }
            text += end
            if line.isEmpty {
                line = text
            } else if line.count + 1 + text.count <= width {
                line += " " + text
            } else {
                lines.append(line)
                line = indent + text
            }
        }
        return lines + [line]
    }
}
