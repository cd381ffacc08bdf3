import LinuxSupport
import NetworkLab

/// A request as a server has seen it.
struct Seen: Sendable {
    let method: String
    let path: String
    let fields: [String: String]
    let body: [UInt8]
}

/// The response of a server.
struct Reply: Sendable {
    var status = 200
    var fields: [String: String] = [:]
    /// The values of Set-Cookie, one field each.
    var cookies: [String] = []
    var body: [UInt8] = []
    /// What Content-Length says; nil for the truth.
    var length: Int?
    /// Whether the connection is closed behind the body.
    var closes = false
    /// Whether nothing follows behind the body, not even the end of the connection.
    var stalls = false
    /// Whether nothing is answered at all.
    var isSilent = false

    static let silence = Reply(isSilent: true)

    init(
        _ body: String = "",
        status: Int = 200,
        type: String? = nil,
        fields: [String: String] = [:],
        cookies: [String] = [],
        isSilent: Bool = false
    ) {
        self.body = Array(body.utf8)
        self.status = status
        self.fields = fields
        self.cookies = cookies
        if let type { self.fields["Content-Type"] = type }
        self.isSilent = isSilent
    }
}

/// A server whose replies a closure makes.
final class SmallServer: Sendable {
    private let server: ScriptedServer
    private let requests = Locked<[Seen]>([])
    /// Has an element for each request.
    let arrivals: AsyncStream<Void>

    init(_ answer: @escaping @Sendable (Seen) -> Reply) throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        self.arrivals = arrivals
        server = try ScriptedServer { [requests] request in
            let seen = Seen(method: request.method, path: request.target, fields: request.fields, body: request.body)
            requests.withLock { $0.append(seen) }
            arrival.yield()
            return answer(seen).scripted(isHead: request.method == "HEAD")
        }
    }

    var seen: [Seen] { requests.withLock { $0 } }

    func url(_ path: String = "/", host: String = "127.0.0.1") -> String { server.url(path, host: host) }

    func stop() {
        server.stop()
    }
}

extension Reply {
    fileprivate func scripted(isHead: Bool) -> ScriptedReply {
        if isSilent { return .silence }
        return .status(
            status,
            headers: fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + cookies.map { ("Set-Cookie", $0) },
            body: isHead ? [] : body,
            length: length ?? body.count,
            then: closes ? .close : .stay
        )
    }
}
