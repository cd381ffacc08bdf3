import LinuxSupport
import ReachabilityLedger

/// What a machine says on its topic `detail` to a ``DeviceCommand``.
package struct DeviceAnswer: Hashable, Sendable {
    /// So many bytes of JSON are handed on at most; more is a problem.
    package static let longestBody = 12 << 10

    /// The command it is for, as it was written: `detail`, `replay-from`, `check` or `report`.
    package let command: String
    /// One object of JSON, as the service of the machine answers; nil where there is none.
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
