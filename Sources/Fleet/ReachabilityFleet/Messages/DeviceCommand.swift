import LinuxSupport

/// A command to a machine.
package enum DeviceCommand: Hashable, Sendable {
    /// Requests the status, which is published on `detail`.
    case detail
    /// Requests the state and all events after a position in the log.
    case replay(DeviceReplay)
    /// Checks a configured target.
    case check(target: String)
    /// Requests the report of an outage, which is published on `detail`.
    case report(outage: String)
}

/// A request to send events again.
package struct DeviceReplay: Hashable, Sendable {
    /// The log position of the last event that the requester has; nil to request all events of the log.
    package var position: EventPosition?
    /// The earliest possible time of that event, by the machine's wall clock, since 1970. Events older than the log
    /// come from the history.
    package var since: Duration?
    /// The mark that the machine sends before the first event, so that the hub recognizes the replay; nil for none.
    package var mark: String?

    package init(after position: EventPosition?, since: Duration? = nil, mark: String? = nil) {
        (self.position, self.since, self.mark) = (position, since, mark)
    }
}

extension DeviceCommand {
    private enum Word: String {
        case detail
        case replay = "replay-from"
        case check, report
    }

    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        switch try payload.word("command", Word.self) {
        case .detail: self = .detail
        case .replay:
            let position = try payload.optionalPosition("after")
            let since = try payload.optionalDuration("since")
            if let since, since < .zero { throw PayloadError("\"since\" is before 1970") }
            let mark = try payload.optionalText("mark", longest: 64)
            self = .replay(DeviceReplay(after: position, since: since, mark: mark))
        case .check: self = .check(target: try payload.text("target", longest: 256))
        case .report:
            let id = try payload.text("outage", longest: 128)
            // The id becomes part of a path.
            guard !id.isEmpty, id.utf8.allSatisfy({ Self.isPlain($0) }) else {
                throw PayloadError("\"outage\" is not a valid id")
            }
            self = .report(outage: id)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("command", name)
        switch self {
        case .detail: break
        case .replay(let replay):
            if let position = replay.position { object.add("after", position.description) }
            if let since = replay.since { object.add("since", since.milliseconds) }
            if let mark = replay.mark { object.add("mark", mark) }
        case .check(let target): object.add("target", target)
        case .report(let id): object.add("outage", id)
        }
        return object.bytes
    }

    /// The name of the command in a message.
    package var name: String {
        let word: Word =
            switch self {
            case .detail: .detail
            case .replay: .replay
            case .check: .check
            case .report: .report
            }
        return word.rawValue
    }
}

/// The answer to a ``DeviceCommand``, published on the topic `detail`.
package struct DeviceAnswer: Hashable, Sendable {
    /// The maximum size of the JSON object, in bytes. A longer answer is replaced by a problem.
    package static let longestBody = 12 << 10

    /// The name of the answered command: `detail`, `replay-from`, `check` or `report`.
    package let command: String
    /// The JSON object from the machine's service; nil for a command without an answer, or one that failed.
    package let body: [UInt8]?
    /// The reason why the command failed; nil if it succeeded.
    package let problem: String?

    private init(_ command: String, _ body: [UInt8]?, problem: String?) {
        (self.command, self.body, self.problem) = (command, body, problem)
    }

    /// Creates the answer to a command that succeeded.
    package init(to command: DeviceCommand, body: [UInt8]? = nil) {
        if let body {
            guard body.count <= Self.longestBody, case .object? = JSONValue(body) else {
                let problem = "the answer (\(body.count) bytes) is too large or not a JSON object; query the machine"
                self.init(command.name, nil, problem: problem)
                return
            }
        }
        self.init(command.name, body, problem: nil)
    }

    /// Creates the answer to a command that failed.
    package init(to command: DeviceCommand, problem: String) {
        self.init(command.name, nil, problem: problem)
    }
}

extension DeviceAnswer {
    package func bytes(session: String) -> [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("command", command)
        object.add("problem", problem)
        object.add("answer", body.map { JSONObject(encoded: $0) })
        return object.bytes
    }

    /// Reads a message. The body is then the whole message, whose member `answer` is an object.
    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        self.init(
            try payload.text("command", longest: 64),
            try payload.optionalObject("answer").map { _ in bytes },
            problem: try payload.optionalText("problem")
        )
    }
}

/// The problem of an invalid message.
package struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The payload of a message: a JSON object with `"schema":1`. Values are checked strictly and have maximum sizes,
/// because any client with a machine's credentials can send arbitrary bytes. Unknown keys are ignored, because later
/// versions may add keys.
struct Payload {
    /// The maximum size of a message, in bytes.
    static let longest = 16 << 10
    /// The maximum size of a string, in bytes of UTF-8.
    static let longestText = 512
    /// The latest time: the end of the year 9999, in milliseconds since 1970.
    static let latest: UInt64 = 253_402_300_799_999

    private let members: [String: JSONValue]

    init(_ bytes: [UInt8], longest: Int = Self.longest) throws(PayloadError) {
        guard bytes.count <= longest else { throw PayloadError("\(bytes.count) bytes exceed the limit of \(longest)") }
        guard case .object(let members)? = JSONValue(bytes) else { throw PayloadError("not a JSON object") }
        self.members = members
        guard case .number("1")? = members["schema"] else { throw PayloadError("\"schema\" is not 1") }
    }

    init(members: [String: JSONValue]) {
        self.members = members
    }

    /// Returns a required string.
    func text(_ key: String, longest: Int = longestText) throws(PayloadError) -> String {
        guard let text = try optionalText(key, longest: longest) else { throw PayloadError("\"\(key)\" is missing") }
        return text
    }

    func optionalText(_ key: String, longest: Int = longestText) throws(PayloadError) -> String? {
        switch members[key] {
        case nil, .null?: return nil
        case .string(let text)?:
            guard text.utf8.count <= longest else { throw PayloadError("\"\(key)\" is too long") }
            return text
        default: throw PayloadError("\"\(key)\" is not a string")
        }
    }

    /// Returns a required string that must be a case of an enumeration.
    func word<Word: RawRepresentable<String>>(_ key: String, _: Word.Type = Word.self) throws(PayloadError) -> Word {
        guard let word = Word(rawValue: try text(key, longest: 64)) else {
            throw PayloadError("\"\(key)\" has an unknown value")
        }
        return word
    }

    /// Returns an optional whole number that is not negative.
    func optionalCount(_ key: String, upTo limit: UInt64 = .max) throws(PayloadError) -> UInt64? {
        switch members[key] {
        case nil, .null?: return nil
        case let value?:
            guard let count = value.count, count <= limit else { throw PayloadError("\"\(key)\" is out of range") }
            return count
        }
    }

    func count(_ key: String, upTo limit: UInt64 = .max) throws(PayloadError) -> UInt64 {
        guard let count = try optionalCount(key, upTo: limit) else { throw PayloadError("\"\(key)\" is missing") }
        return count
    }

    /// Returns a time as the duration since 1970. The unit in JSON is milliseconds.
    func time(_ key: String) throws(PayloadError) -> Duration {
        .milliseconds(Int64(try count(key, upTo: Self.latest)))
    }

    /// Returns a timestamp of RFC 3339 as the duration since 1970, in whole milliseconds. The year must be 1970 to
    /// 9999, because other years cannot be written.
    func optionalTimestamp(_ key: String) throws(PayloadError) -> Duration? {
        guard let text = try optionalText(key, longest: 40) else { return nil }
        guard let time = Timestamp.real(of: text), time >= .zero, time <= .milliseconds(Int64(Self.latest)) else {
            throw PayloadError("\"\(key)\" is not a timestamp from 1970 to 9999")
        }
        return .milliseconds(time.milliseconds)
    }

    /// Returns an optional duration, which may be negative. The unit in JSON is milliseconds. Values are limited to
    /// ±8000 years, so that later arithmetic cannot overflow.
    func optionalDuration(_ key: String) throws(PayloadError) -> Duration? {
        switch members[key] {
        case nil, .null?: return nil
        case .number(let text)?:
            guard let number = Int64(text) else { throw PayloadError("\"\(key)\" is out of range") }
            let limit = Int64(Self.latest)
            return .milliseconds(max(-limit, min(number, limit)))
        default: throw PayloadError("\"\(key)\" is not a number")
        }
    }

    /// Returns an optional number of seconds as a duration, which is not negative.
    func optionalSeconds(_ key: String) throws(PayloadError) -> Duration? {
        switch members[key] {
        case nil, .null?: return nil
        case .number(let text)?:
            guard let number = Double(text), 0...Double(Self.latest / 1000) ~= number else {
                throw PayloadError("\"\(key)\" is out of range")
            }
            return .milliseconds(Int64(number * 1000))
        default: throw PayloadError("\"\(key)\" is not a number")
        }
    }

    func truth(_ key: String) throws(PayloadError) -> Bool {
        guard let truth = members[key]?.truth else { throw PayloadError("\"\(key)\" is not true or false") }
        return truth
    }

    func texts(_ key: String) throws(PayloadError) -> [String] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is not an array") }
        return values.compactMap(\.text)
    }

    func objects(_ key: String) throws(PayloadError) -> [Payload] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is not an array") }
        return values.compactMap { if case .object(let members) = $0 { Payload(members: members) } else { nil } }
    }

    func optionalObject(_ key: String) throws(PayloadError) -> Payload? {
        switch members[key] {
        case nil, .null?: return nil
        case .object(let members)?: return Payload(members: members)
        default: throw PayloadError("\"\(key)\" is not an object")
        }
    }

    /// Returns an optional value that is read from an object.
    func optional<Value>(
        _ key: String,
        _ read: (Payload) throws(PayloadError) -> Value
    ) throws(PayloadError) -> Value? {
        guard let object = try optionalObject(key) else { return nil }
        return try read(object)
    }
}
