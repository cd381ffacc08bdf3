import NetworkLab

/// What a web server of the lab does with its clients.
package enum WebBehaviour: Sendable {
    /// Head and body as they are given; `Date`, `Content-Length` and `Connection: close` are added.
    case answer(Int, headers: [(name: String, value: String)] = [], body: String = "")
    /// 204, and the challenge comes back.
    case anchor
    /// 204 to everybody, as a portal does that wants to be taken for the internet.
    case faked
    case redirect(to: String, status: Int = 302)
    /// 200 with a text of HTML.
    case page(String)
    /// 511 (RFC 6585).
    case authenticationRequired
    /// What RFC 8908 has, as it is.
    case portalAPI(String)
    /// 200 with so many bytes.
    case body(Int)
    /// 200 announcing so many bytes, of which half are sent.
    case stalledBody(Int)
    /// The same as another, one byte at a time.
    indirect case byteByByte(WebBehaviour)
    /// These bytes, as soon as the client says anything, and nothing more.
    case bytes([UInt8], isClosed: Bool = false)
    /// Takes the connection, and never says anything, not even of TLS.
    case silentConnection
    /// Reads the request, and never answers.
    case silentRequest
    /// Closes the connection when it is made.
    case closedConnection
    /// Reads the request, and closes.
    case closedRequest

    /// The reply to the head of a request.
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
