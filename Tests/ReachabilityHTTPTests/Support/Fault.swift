import LinuxSupport
import Netlink
import NetworkLab
import ReachabilityRetry

/// The behaviour of a server for a request. The request selects it with its field `X-Fault`.
enum Fault: Hashable, Sendable {
    /// Answers with a status, and with a Retry-After if there is one.
    case answer(Int, retryAfter: String? = nil)
    /// Answers with a body of the given number of bytes.
    case body(Int, status: Int = 200)
    /// Redirects to another URL with this status.
    case redirect(Int, to: String)
    /// Resets the connection after the head of the request.
    case resetBeforeHead
    /// Reads the request, and resets the connection.
    case resetAfterBody
    /// Reads the request, and closes the connection without an answer.
    case closeAfterBody
    /// Reads the request, sends a part of an answer, and resets the connection.
    case resetMidBody
    /// Answers with this status and a part of a body, and never sends the rest.
    case stall(status: Int)
    /// Reads the request, and never answers.
    case hang
    /// Reads the request, and answers after a number of milliseconds.
    case slow(Int)
    /// Sends an answer that is not HTTP.
    case garbage
    /// The adapter sends the attempt to a closed port.
    case refuse
    /// The adapter sends the attempt to a name that does not exist.
    case noName
}

extension Fault {
    /// A URL with a host for which no name server is queried, because a label has at most 63 characters (RFC 1035,
    /// section 2.3.4).
    static let nameless = "http://\(String(repeating: "n", count: 64)).invalid/"

    /// The value of the header field.
    var text: String {
        switch self {
        case .answer(let status, let retryAfter): "answer/\(status)/\(retryAfter ?? "")"
        case .body(let count, let status): "body/\(count)/\(status)"
        case .stall(let status): "stall/\(status)"
        case .redirect(let status, let url): "redirect/\(status)/\(url)"
        case .slow(let milliseconds): "slow/\(milliseconds)"
        default: "\(self)"
        }
    }

    init(_ text: String) {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let numbers = words.map { Int($0) ?? 0 } + [0, 0]
        self =
            switch words[0] {
            case "answer": .answer(numbers[1], retryAfter: words[2].isEmpty ? nil : words[2])
            case "body": .body(numbers[1], status: numbers[2])
            case "stall": .stall(status: numbers[1])
            case "redirect": .redirect(numbers[1], to: words.dropFirst(2).joined(separator: "/"))
            case "slow": .slow(numbers[1])
            case "resetBeforeHead": .resetBeforeHead
            case "resetAfterBody": .resetAfterBody
            case "closeAfterBody": .closeAfterBody
            case "resetMidBody": .resetMidBody
            case "hang": .hang
            case "garbage": .garbage
            default: .answer(200)
            }
    }
}

extension Fault {
    /// The reply to a request. The server does not read the body of one for `resetBeforeHead`.
    var reply: ScriptedReply {
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        switch self {
        case .answer(let status, let retryAfter):
            let headers = retryAfter.map { [(name: "Retry-After", value: $0)] } ?? []
            return .status(status, headers: headers, body: text("status \(status)"))
        case .redirect(let status, let url): return .redirect(status, to: url)
        case .body(let count, let status): return .status(status, body: text(String(repeating: "x", count: count)))
        case .resetBeforeHead, .resetAfterBody: return ScriptedReply(pieces: [], then: .reset)
        case .closeAfterBody: return .disconnect
        case .resetMidBody: return .status(200, body: text("half"), length: 1000, then: .reset)
        case .stall(let status): return .status(status, body: text("half"), length: 1000)
        case .hang, .refuse, .noName: return .silence
        case .slow(let milliseconds):
            var reply = ScriptedReply.status(200, body: text("late"))
            reply.delay = .milliseconds(milliseconds)
            return reply
        case .garbage: return ScriptedReply("This is no answer.\r\n\r\n", then: .close)
        }
    }
}

extension ReceivedRequest {
    var id: String { self["X-ID"] ?? "" }

    /// The target of a redirect names its fault, because the field `X-Fault` is copied from hop to hop.
    var fault: Fault {
        Fault(target.hasPrefix("/fault/") ? String(target.dropFirst(7)) : self["X-Fault"] ?? "")
    }
}

extension ScriptedServer {
    /// A server that performs the fault of each request.
    static func faults(
        in namespace: LabNamespace? = nil,
        at address: String = "127.0.0.1",
        port: Int = 0
    ) throws -> ScriptedServer {
        try .perConnection(in: namespace, at: [address], port: port) { connection in
            while var request = connection.nextHead() {
                if request.fault == .resetBeforeHead {
                    connection.note(&request)
                } else if !connection.readBody(&request) {
                    return
                }
                guard connection.perform(request.fault.reply) else { return }
            }
        }
    }

    /// The number of whole requests with an id.
    func effects(of id: String) -> Int { received.filter { $0.id == id && $0.isComplete }.count }
}

/// Runs `body` with a server, and stops it.
func withFaultServer<Value>(_ body: (ScriptedServer) async throws -> Value) async throws -> Value {
    let server = try ScriptedServer.faults()
    defer { server.stop() }
    return try await body(server)
}

/// An adapter that selects the fault of each attempt.
struct FaultAdapter: RequestAdapter {
    private let faults: [Fault]
    private let id: String
    private let asked = Locked<[ContinuousClock.Instant]>([])

    init(_ faults: [Fault], id: String) {
        self.faults = faults
        self.id = id
    }

    /// The times of the calls.
    var times: [ContinuousClock.Instant] { asked.withLock { $0 } }

    func adapt(_ request: RequestHead) async throws -> RequestHead {
        let number = asked.withLock { asked in
            asked.append(.now)
            return asked.count
        }
        var request = request
        request["X-ID"] = id
        request["X-Attempt"] = String(number)
        guard !faults.isEmpty else { return request }
        let fault = faults[min(number, faults.count) - 1]
        switch fault {
        // No server listens on port 1.
        case .refuse: request.url = "http://127.0.0.1:1/"
        case .noName: request.url = Fault.nameless
        default: request["X-Fault"] = fault.text
        }
        return request
    }
}
