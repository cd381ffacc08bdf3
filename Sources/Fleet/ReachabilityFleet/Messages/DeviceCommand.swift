import LinuxSupport

/// What a machine can be asked for over the broker: these four, and nothing else.
package enum DeviceCommand: Hashable, Sendable {
    /// Why it is as it is: answered on `detail`.
    case detail
    /// Says anew how it is, and tells again what came after a place in its log.
    case replay(DeviceReplay)
    /// Has a target checked that is configured.
    case check(target: String)
    /// The report of an outage: answered on `detail`.
    case report(outage: String)
}

/// From where on a machine tells again.
package struct DeviceReplay: Hashable, Sendable {
    /// The last event that is known; nil for all that is kept.
    package var position: EventPosition?
    /// When that may have been, by the machine's wall clock since 1970: where the log does not go back so far, the history does.
    package var since: Duration?
    /// Said before the first event, so that whoever asked knows which come again; nil where nobody has to know.
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
            // It becomes part of a path.
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
