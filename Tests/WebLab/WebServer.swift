import Glibc
import LinuxSupport
import NIOSSL
package import NetworkLab

/// A ``ScriptedServer`` for the checks, whose behaviour may be changed while it runs. It serves one request per connection.
package final class WebServer: Sendable {
    private struct State {
        var behaviour: WebBehaviour
        var clockOffset = Duration.zero
    }

    package let port: UInt16
    private let state: Locked<State>
    private let server: ScriptedServer

    /// - Parameters:
    ///   - namespace: The network namespace of the listening sockets; nil for that of the process.
    ///   - addresses: Numeric addresses of both families. By default all current and later addresses of the
    ///     namespace.
    ///   - port: The port; 0 for one that the kernel selects.
    ///   - identity: The certificates of the server; nil for no TLS.
    package init(
        in namespace: LabNamespace? = nil,
        at addresses: [String] = ["0.0.0.0", "::"],
        port: UInt16 = 0,
        identity: WebIdentity? = nil,
        _ behaviour: WebBehaviour = .anchor
    ) async throws {
        let state = Locked(State(behaviour: behaviour))
        self.state = state
        let context = try identity?.context()
        server = try await LabThread.detached {
            try .perConnection(
                in: namespace,
                at: addresses,
                port: Int(port),
                coder: TLSCoder.layer(context),
                script: { Self.serve($0, state) }
            )
        }
        self.port = UInt16(server.port)
    }

    private static func serve(_ connection: ScriptedConnection, _ state: Locked<State>) {
        switch state.withLock({ $0.behaviour }) {
        case .silentConnection: return connection.stream.waitForEnd()
        case .closedConnection: return connection.stream.close()
        case .bytes:
            guard !connection.receive().isEmpty else { return }
            answer("", on: connection, state)
        default:
            guard let request = connection.nextRequest() else { return }
            answer(request.head, on: connection, state)
        }
    }

    private static func answer(_ request: String, on connection: ScriptedConnection, _ state: Locked<State>) {
        let (behaviour, offset) = state.withLock { ($0.behaviour, $0.clockOffset) }
        if connection.perform(behaviour.reply(to: request, date: WebDate.text(SystemClock.real + offset))) {
            connection.waitForEnd()
        }
    }

    /// Changes the behaviour for new connections and for later requests.
    package func behave(_ behaviour: WebBehaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// Sets the difference between the server's `Date` and the system's clock.
    package func setClock(ahead offset: Duration) {
        state.withLock { $0.clockOffset = offset }
    }

    /// The number of connections so far.
    package var connections: Int { server.connections }

    /// The number of open connections.
    package var openConnections: Int { server.openConnections }

    /// The text from each client that has sent any, without TLS: one request, or the beginning of one.
    package var requests: [String] { server.visits.map(\.received).filter { !$0.isEmpty } }

    /// Closes the port and all connections.
    package func close() async {
        server.stop()
    }
}

/// The behaviour of a web server of the lab.
package enum WebBehaviour: Sendable {
    /// Sends a status, header fields and a body. `Date`, `Content-Length` and `Connection: close` are added.
    case answer(Int, headers: [(name: String, value: String)] = [], body: String = "")
    /// Answers with 204, and echoes the challenge.
    case anchor
    /// Answers each request with 204, like a portal that simulates internet access.
    case faked
    case redirect(to: String, status: Int = 302)
    /// Answers with 200 and an HTML text.
    case page(String)
    /// Answers with 511 (RFC 6585).
    case authenticationRequired
    /// Answers with a text as the response of a captive portal API (RFC 8908).
    case portalAPI(String)
    /// Answers with 200 and a body of the given length.
    case body(Int)
    /// Answers with 200 and the given length, and sends only half of the body.
    case stalledBody(Int)
    /// Sends another behaviour's answer in single bytes.
    indirect case byteByByte(WebBehaviour)
    /// Sends these bytes after the first bytes of the client, and nothing more.
    case bytes([UInt8], isClosed: Bool = false)
    /// Accepts the connection and sends nothing, not even a TLS handshake.
    case silentConnection
    /// Reads the request, and never answers.
    case silentRequest
    /// Closes the connection immediately.
    case closedConnection
    /// Reads the request, and closes the connection.
    case closedRequest

    /// Returns the reply to the head of a request.
    func reply(to request: String, date: String) -> ScriptedReply {
        func answer(
            _ status: Int,
            _ headers: [(name: String, value: String)] = [],
            _ body: String = "",
            length: Int? = nil
        ) -> ScriptedReply {
            let headers = [("Date", date), ("Connection", "close")] + headers
            let body = Array(body.utf8)
            return .status(status, headers: headers, body: body, length: length, then: length == nil ? .close : .stay)
        }
        switch self {
        case .answer(let status, let headers, let body): return answer(status, headers, body)
        case .anchor:
            return answer(204, Self.challenge(in: request).map { [("Reachability-Response", $0)] } ?? [])
        case .faked: return answer(204)
        case .redirect(let place, let status): return answer(status, [("Location", place)])
        case .page(let text): return answer(200, [("Content-Type", "text/html")], text)
        case .authenticationRequired: return answer(511, [("Content-Type", "text/html")], "<p>Log in</p>")
        case .portalAPI(let text): return answer(200, [("Content-Type", "application/captive+json")], text)
        case .body(let count): return answer(200, [], String(repeating: "w", count: count))
        case .stalledBody(let count): return answer(200, [], String(repeating: "w", count: count / 2), length: count)
        case .byteByByte(let other):
            let reply = other.reply(to: request, date: date)
            return ScriptedReply(pieces: reply.pieces.joined().map { [$0] }, then: reply.ending)
        case .bytes(let bytes, let isClosed): return ScriptedReply(pieces: [bytes], then: isClosed ? .close : .stay)
        case .silentConnection, .silentRequest: return .silence
        case .closedConnection, .closedRequest: return .disconnect
        }
    }

    private static func challenge(in request: String) -> String? {
        let name = "reachability-challenge:"
        let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }
        return line.map { $0.dropFirst(name.count).drop { $0 == " " } }.map(String.init)
    }
}

/// The header field `Date` of HTTP (RFC 9110, 5.6.7).
enum WebDate {
    /// - Parameter moment: The time since 1970 in UTC.
    static func text(_ moment: Duration) -> String {
        var seconds = time_t(moment.components.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        // No program here sets a locale, so the names are English.
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
