import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry

/// `reachability outbox`: the group of its subcommands.
struct OutboxCommand: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        subcommands: [Add.self, List.self, Flush.self, Requeue.self, Drop.self]
    )
}

/// `reachability outbox drop`: deletes requests.
struct Drop: AsyncParsableCommand {
    static let configuration = OutboxDropArguments.configuration

    @OptionGroup var arguments: OutboxDropArguments

    func run() async throws {
        try await arguments.outbox.withExisting { outbox in
            var ids = arguments.ids
            if arguments.all { ids += try await outbox.entries().map(\.id) }
            if arguments.dead { ids += try await outbox.deadLetters().map(\.id) }
            try await ids.each("request") { try await outbox.drop($0) }
        }
    }
}

/// `reachability outbox add`: stores a request.
struct Add: AsyncParsableCommand {
    static let configuration = OutboxAddArguments.configuration

    @OptionGroup var arguments: OutboxAddArguments

    func run() async throws {
        var options = OutboxOptions()
        if let count = arguments.maxCount { options.maximumCount = count }
        if arguments.dropOldest { options.whenFull = .dropOldest }
        options.report = { StandardError.report("\($0.line)") }
        let expiry = try arguments.expires?.value
        let limit = options.maximumBytes
        let request = OutboxRequest(
            arguments.method,
            arguments.url,
            headers: try arguments.headers.flatMap { try HeaderArgument(text: $0).headers },
            body: try arguments.body.map { try ArgumentFile($0).bytes(limit: limit) } ?? []
        )
        let addition = try await arguments.outbox.with(options) { outbox in
            try await outbox.enqueue(
                request,
                dedupeKey: arguments.key,
                priority: arguments.priority,
                expiry: expiry
            )
        }
        let text =
            switch addition {
            case .added(let entry): "\(entry.id)"
            case .waiting(let entry): "\(entry.id) (already waiting)"
            case .delivered: "already delivered"
            }
        StandardOutput.write(Array(text.utf8))
    }
}

/// `reachability outbox list`: prints the waiting requests and the dead letters.
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
    /// The entry in lines of at most 80 columns. The first line begins with the number, the others with spaces.
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

    /// Wraps phrases into lines. A phrase longer than a line is truncated.
    private static func wrapped(_ phrases: [String]) -> [String] {
        let indentation = "    "
        let texts = phrases.enumerated().map { index, phrase in
            let end = index == phrases.count - 1 ? "" : ","
            let room = Lines.width - indentation.count - end.count
            let text = phrase.printable
            return (text.count > room ? text.prefix(room - 3) + "..." : text) + end
        }
        return Lines.wrapped(texts, indentation: indentation)
    }
}

/// `reachability outbox requeue`: returns dead letters to the queue.
struct Requeue: AsyncParsableCommand {
    static let configuration = OutboxRequeueArguments.configuration

    @OptionGroup var arguments: OutboxRequeueArguments

    func run() async throws {
        try await arguments.outbox.withExisting { outbox in
            let ids = arguments.all ? try await outbox.deadLetters().map(\.id) : arguments.ids
            try await ids.each("dead letter") { try await outbox.requeue($0) }
        }
    }
}

extension [OutboxEntry.ID] {
    /// Performs work for each number. Prints the numbers that exist, and reports the others on standard error.
    func each(_ noun: String, _ work: (OutboxEntry.ID) async throws -> Bool) async throws {
        var missing: [OutboxEntry.ID] = []
        for id in self {
            if try await work(id) { StandardOutput.write(text: "\(id)") } else { missing.append(id) }
        }
        for id in missing { StandardError.report("there is no \(noun) \(id)") }
        if !missing.isEmpty { throw ExitCode(1) }
    }
}

/// The value of `--header`: a header, or `@` and a file with one header per line. A file keeps secrets out of the arguments, which other
/// users can read.
struct HeaderArgument {
    let text: String

    var headers: [RequestHead.Field] {
        get throws(ExitMessage) {
            guard text.hasPrefix("@") else { return [try Self.header(text)] }
            let bytes = try ArgumentFile(String(text.dropFirst())).bytes(limit: 1 << 20)
            let content = String(decoding: bytes, as: UTF8.self)
            // In Swift, CR and LF together are one character.
            var headers: [RequestHead.Field] = []
            for line in content.lines { headers.append(try Self.header(line)) }
            return headers
        }
    }

    private static func header(_ line: some StringProtocol) throws(ExitMessage) -> RequestHead.Field {
        guard let colon = line.unicodeScalars.firstIndex(of: ":") else {
            throw ExitMessage("a header has no colon; write \"Name: value\"", .usage)
        }
        let value = line[line.unicodeScalars.index(after: colon)...].drop { $0 == " " }
        return RequestHead.Field(name: String(line[..<colon]), value: String(value))
    }
}
