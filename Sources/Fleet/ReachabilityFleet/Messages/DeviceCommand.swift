import LinuxSupport
import ReachabilityLedger

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
    /// The last known event; nil for all events of the log.
    package var position: EventPosition?
    /// When that may have been, by the machine's wall clock since 1970: where the log does not go back so far, the history does.
    package var since: Duration?
    /// The mark that the machine sends before the first event, so that the hub recognizes the replay; nil if it need not.
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
                throw PayloadError("\"outage\" is no id")
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
        switch self {
        case .detail: object.add("command", Word.detail.rawValue)
        case .replay(let replay):
            object.add("command", Word.replay.rawValue)
            if let position = replay.position { object.add("after", position.description) }
            if let since = replay.since { object.add("since", since.milliseconds) }
            if let mark = replay.mark { object.add("mark", mark) }
        case .check(let target):
            object.add("command", Word.check.rawValue)
            object.add("target", target)
        case .report(let id):
            object.add("command", Word.report.rawValue)
            object.add("outage", id)
        }
        return object.bytes
    }
}

/// The answer to a ``DeviceCommand``, on the topic `detail`.
package struct DeviceAnswer: Hashable, Sendable {
    /// The maximum number of bytes of the JSON. A longer answer is a problem.
    package static let longestBody = 12 << 10

    /// The command it is for, as it was written: `detail`, `replay-from`, `check` or `report`.
    package let command: String
    /// The JSON object of the machine's service; nil if there is none.
    package let body: [UInt8]?
    /// Why it was not done; nil if it was.
    package let problem: String?

    private init(_ command: String, _ body: [UInt8]?, problem: String?) {
        (self.command, self.body, self.problem) = (command, body, problem)
    }

    /// It was done.
    package init(to command: DeviceCommand, body: [UInt8]? = nil) {
        if let body {
            guard body.count <= Self.longestBody, case .object? = JSONValue(body) else {
                let problem = "the answer has \(body.count) bytes, or is no object: ask the machine itself"
                self.init(command.name, nil, problem: problem)
                return
            }
        }
        self.init(command.name, body, problem: nil)
    }

    /// It was not done.
    package init(to command: DeviceCommand, problem: String) {
        self.init(command.name, nil, problem: problem)
    }
}

extension DeviceCommand {
    /// Its word in a message.
    package var name: String {
        switch self {
        case .detail: "detail"
        case .replay: "replay-from"
        case .check: "check"
        case .report: "report"
        }
    }
}

extension DeviceAnswer {
    /// - Parameter session: That of the connection it is sent on.
    package func bytes(session: String) -> [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("command", command)
        object.add("problem", problem)
        object.add("answer", body.map { JSONObject(encoded: $0) })
        return object.bytes
    }

    /// Reads a message; the body is then the whole of it, in which `answer` is an object.
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

/// The payload of a message: an object of JSON with `"schema":1`, read strictly and with bounds, for whoever has a device's
/// password may send anything. Keys that are not known are passed over: later versions add some.
struct Payload {
    /// The maximum length of a message.
    static let longest = 16 << 10
    /// The maximum number of bytes of a text.
    static let longestText = 512
    /// The latest time: the end of the year 9999, in milliseconds since 1970.
    static let latest: UInt64 = 253_402_300_799_999

    private let members: [String: JSONValue]

    init(_ bytes: [UInt8], longest: Int = Self.longest) throws(PayloadError) {
        guard bytes.count <= longest else { throw PayloadError("\(bytes.count) bytes, where \(longest) are allowed") }
        guard case .object(let members)? = JSONValue(bytes) else { throw PayloadError("no object of JSON") }
        self.members = members
        guard case .number("1")? = members["schema"] else { throw PayloadError("\"schema\" is not 1") }
    }

    init(members: [String: JSONValue]) {
        self.members = members
    }

    /// A required text.
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
        default: throw PayloadError("\"\(key)\" is no text")
        }
    }

    /// A word of a list.
    func word<Word: RawRepresentable<String>>(_ key: String, _: Word.Type = Word.self) throws(PayloadError) -> Word {
        guard let word = Word(rawValue: try text(key, longest: 64)) else {
            throw PayloadError("\"\(key)\" is no such word")
        }
        return word
    }

    /// A whole number that is not negative.
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

    /// Milliseconds since 1970 as a length of time.
    func time(_ key: String) throws(PayloadError) -> Duration {
        .milliseconds(Int64(try count(key, upTo: Self.latest)))
    }

    /// A moment as RFC 3339 has it, from 1970 to 9999, in whole milliseconds: others cannot be written.
    func optionalTimestamp(_ key: String) throws(PayloadError) -> Duration? {
        guard let text = try optionalText(key, longest: 40) else { return nil }
        guard let time = Timestamp.real(of: text), time >= .zero, time <= .milliseconds(Int64(Self.latest)) else {
            throw PayloadError("\"\(key)\" is no moment")
        }
        return .milliseconds(time.milliseconds)
    }

    /// Milliseconds, which may be negative. The nearest of ±8000 years, so that later arithmetic has room.
    func optionalDuration(_ key: String) throws(PayloadError) -> Duration? {
        switch members[key] {
        case nil, .null?: return nil
        case .number(let text)?:
            guard let number = Int64(text) else { throw PayloadError("\"\(key)\" is out of range") }
            let limit = Int64(Self.latest)
            return .milliseconds(max(-limit, min(number, limit)))
        default: throw PayloadError("\"\(key)\" is no number")
        }
    }

    func truth(_ key: String) throws(PayloadError) -> Bool {
        guard let truth = members[key]?.truth else { throw PayloadError("\"\(key)\" is not true or false") }
        return truth
    }

    func texts(_ key: String) throws(PayloadError) -> [String] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is no list") }
        return values.compactMap(\.text)
    }

    func objects(_ key: String) throws(PayloadError) -> [Payload] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is no list") }
        return values.compactMap { if case .object(let members) = $0 { Payload(members: members) } else { nil } }
    }

    func optionalObject(_ key: String) throws(PayloadError) -> Payload? {
        switch members[key] {
        case nil, .null?: return nil
        case .object(let members)?: return Payload(members: members)
        default: throw PayloadError("\"\(key)\" is no object")
        }
    }
}
