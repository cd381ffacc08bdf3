import LinuxSupport
import NetworkLab

/// A request that the server has received.
struct Seen: Sendable {
    let method: String
    let path: String
    let fields: [String: String]
    let body: [UInt8]
}

/// A reply of the server.
struct Reply: Sendable {
    var status = 200
    var fields: [String: String] = [:]
    /// The values of the fields Set-Cookie.
    var cookies: [String] = []
    var body: [UInt8] = []
    /// The value of Content-Length; nil for the length of the body.
    var length: Int?
    /// Whether the connection is closed after the body.
    var closes = false
    /// Whether the connection stays open after an incomplete body.
    var stalls = false
    /// Whether no reply is sent.
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

/// A loopback server that replies with the results of a closure.
final class SmallServer: Sendable {
    private let server: ScriptedServer
    private let requests = Locked<[Seen]>([])
    /// An element for each received request.
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
