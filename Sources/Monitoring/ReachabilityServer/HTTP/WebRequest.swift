import LinuxSupport
package import NIOHTTP1
import ReachabilityService

/// A complete HTTP request.
package struct WebRequest: Sendable {
    /// The transport of a request, with the identity of the client if the transport provides one.
    package enum Peer: Hashable, Sendable {
        /// The Unix socket, with the user id and the group ids of the client's process. The user is nil if the kernel does not report it.
        case local(user: UInt32?, groups: [UInt32] = [])
        /// TCP over loopback, without TLS.
        case loopback
        /// The address of the public status page.
        case open
        /// TLS, with the name in the client's verified certificate; nil without a certificate.
        case secured(certificate: String?)
    }

    package let method: HTTPMethod
    /// The decoded segments of the path.
    package var path: [String]
    /// The number of segments of the path, with the empty one after a trailing slash.
    private var depth: Int
    /// The last segment of the removed base path.
    private var baseName = ""
    /// The decoded query parameters. If a name occurs several times, the last value is used.
    package let query: [String: String]
    package let headers: HTTPHeaders
    package var peer: Peer
    package let body: [UInt8]
    let version: HTTPVersion
    /// The requested host, from an absolute request target or from `Host`. The target takes precedence.
    ///
    /// Source: RFC 9112, 3.2.2.
    let host: String?
    /// The client to which the connection is attributed for quotas.
    package var client = WebClient.unknown
    /// The address of the other end of the TCP connection, only for a request with `X-Forwarded-For`.
    var remote: WireAddress?
    /// The scheme between the client and a configured proxy; nil without a proxy.
    var forwardedScheme: String?
    /// Returns true if the client has disconnected, so that no answer is needed.
    package var isAbandoned: @Sendable () -> Bool = { false }
    /// The token of the request; nil without one and before access control.
    var token: AccessSettings.Token?

    /// Parses the head of a request.
    ///
    /// - Throws: ``Problem`` for an invalid target.
    package init(_ head: HTTPRequestHead, body: [UInt8], peer: Peer) throws(Problem) {
        (method, headers, self.peer, self.body) = (head.method, head.headers, peer, body)
        var target = head.uri[...]
        version = head.version
        var host = head.headers.first(name: "Host")
        // Requests to a proxy use the absolute form.
        if let scheme = ["http://", "https://"].first(where: { target.lowercased().hasPrefix($0) }) {
            target = target.dropFirst(scheme.count)
            let end = target.utf8.firstIndex { "/?".utf8.contains($0) } ?? target.endIndex
            host = String(target[..<end])
            target = target[end...]
            if target.utf8.first != UInt8(ascii: "/") { target = "/" + target }
        }
        self.host = host
        guard target.hasPrefix("/") else {
            throw Problem(.badRequest, "the request target must be a path that begins with /")
        }
        let parts = target.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in parts[0].dropFirst().split(at: "/", omittingEmptySubsequences: false) {
            path.append(try Self.decoded(part))
        }
        depth = path.count
        // A trailing slash is ignored.
        if path.last == "" { path.removeLast() }
        self.path = path
        query = try Self.fields(of: parts.count > 1 ? parts[1] : "")
    }

    /// Removes the path at which a reverse proxy publishes the server, unless the proxy has removed it.
    mutating func remove(basePath: [String]) {
        guard let name = basePath.last, path.starts(with: basePath) else { return }
        path.removeFirst(basePath.count)
        (depth, baseName) = (depth - basePath.count, name)
    }

    /// The relative URL of the root of the server, such as `../`. Links that begin with it are right below any path at which a reverse
    /// proxy publishes the server.
    package var root: String {
        depth > 1 ? String(repeating: "../", count: depth - 1) : depth == 1 ? "./" : "./\(baseName)/"
    }

    /// Returns the relative URL of a path of the server.
    func url(of path: String) -> String { root + path.dropFirst() }

    /// Decodes the fields of a query or of a form.
    static func fields(of text: Substring) throws(Problem) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(at: "&") {
            let sides = pair.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? try decoded(sides[1], plusIsSpace: true) : ""
            fields[try decoded(sides[0], plusIsSpace: true)] = value
        }
        return fields
    }

    /// Decodes percent encoding (RFC 3986).
    private static func decoded(_ text: Substring, plusIsSpace: Bool = false) throws(Problem) -> String {
        let text = plusIsSpace ? text.replacing(scalars: "+", with: " ") : String(text)
        guard let bytes = text.percentDecoded() else {
            throw Problem(.badRequest, "a percent sign must be followed by two hexadecimal digits")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Problem(.badRequest, "percent-encoded text must be UTF-8 without NUL")
        }
        return decoded
    }
}

extension WebRequest {
    /// The author of a change: the name or id of the user, or the name of the token or of the client certificate.
    var author: String {
        switch peer {
        case .local(let user, _): user.map { UserName.of($0) ?? String($0) } ?? ""
        case .loopback, .open: token?.name ?? ""
        case .secured(let certificate): token?.name ?? certificate ?? ""
        }
    }

    /// A Boolean value that indicates whether the client accepts the content coding gzip.
    var acceptsGzip: Bool {
        var accepts = false
        for field in headers[canonicalForm: "Accept-Encoding"] {
            let parts = field.lowercased().split(at: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 <= 0 }
            if parts.first == "gzip" { return !isRefused }
            if parts.first == "*" { accepts = !isRefused }
        }
        return accepts
    }
}

/// The representation of an answer.
package enum Representation: Hashable, Sendable {
    /// One JSON document.
    case json
    /// One JSON object per line for each item of a list.
    case lines
    /// Plain text.
    case text

    /// Selects the first supported type in `Accept`; JSON without one.
    package init(of request: WebRequest) {
        for type in request.headers[canonicalForm: "Accept"] {
            switch type.prefix(while: { $0 != ";" }).lowercased().filter({ $0 != " " }) {
            case "text/plain":
                self = .text
                return
            case "application/jsonl", "application/x-ndjson":
                self = .lines
                return
            case "application/json", "*/*", "text/html":
                self = .json
                return
            default: continue
            }
        }
        self = .json
    }

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .json: "application/json"
        case .lines: "application/jsonl"
        case .text: "text/plain; charset=utf-8"
        }
    }
}
