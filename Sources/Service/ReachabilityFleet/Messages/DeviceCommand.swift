import LinuxPrimitives

/// What a machine can be asked for over the broker: these four, and nothing else.
package enum DeviceCommand: Hashable, Sendable {
    /// Why it is as it is: answered on `detail`.
    case detail
    /// Tells again what came after a place in its log.
    case replay(after: EventPosition)
    /// Has a target checked that is configured.
    case check(target: String)
    /// The report of an outage: answered on `detail`.
    case report(outage: String)
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
            guard let position = EventPosition(try payload.text("after", longest: 64)) else {
                throw PayloadError("\"after\" is no place in a log")
            }
            self = .replay(after: position)
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
        case .replay(let position):
            object.add("command", Word.replay.rawValue)
            object.add("after", position.description)
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
