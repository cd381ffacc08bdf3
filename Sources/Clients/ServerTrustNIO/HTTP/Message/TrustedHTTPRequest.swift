public import NIOHTTP1

/// What is asked. No header is added but `Host`, `Connection`, `Content-Length`, and those for a proxy.
public struct TrustedHTTPRequest: Sendable {
    /// Whom, and for what.
    public var url: TrustedHTTPURL

    /// How. Any but CONNECT.
    public var method: HTTPMethod

    /// `Connection`, `Content-Length` and `Transfer-Encoding` are replaced. A `Host` of yours stays; TLS asks for that of the URL.
    public var headers: HTTPHeaders

    /// Sent as it is, without waiting whether the server wants it.
    public var body: [UInt8]

    /// A request for a URL that has been read.
    public init(
        url: TrustedHTTPURL,
        method: HTTPMethod = .GET,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = []
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }

    /// A request for a URL as text.
    ///
    /// - Throws: ``TrustedHTTPError`` with ``TrustedHTTPFailure/invalidURL(_:problem:)``.
    public init(
        _ url: String,
        method: HTTPMethod = .GET,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = []
    ) throws(TrustedHTTPError) {
        do {
            self.init(url: try TrustedHTTPURL(url), method: method, headers: headers, body: body)
        } catch {
            throw TrustedHTTPError(reason: error, method: method.rawValue, url: nil)
        }
    }
}

/// A whole answer. Fields behind a chunked body (trailers) are left away, and nothing is decompressed.
public struct TrustedHTTPResponse: Sendable {
    /// 200 to 999; those before (1xx) are no answers.
    public let status: HTTPResponseStatus

    /// In the order of the server.
    public let headers: HTTPHeaders

    /// Empty for HEAD, 204 and 304.
    public let body: [UInt8]

    /// Whose answer it is: the last URL, if redirects were followed.
    public let url: TrustedHTTPURL

    /// The URLs that redirected, the first first.
    public internal(set) var redirects: [TrustedHTTPURL] = []

    /// What was negotiated, and on what the server was trusted; nil for plain `http`.
    public let handshake: TrustedHandshake?
}

extension TrustedHTTPRequest {
    /// What goes over the wire (RFC 9112, 3).
    ///
    /// - Parameter proxy: Whom it is sent to without a tunnel; nil for the server.
    /// - Throws: ``TrustedHTTPFailure/invalidMethod(_:)`` or ``TrustedHTTPFailure/invalidHeader(_:)``: with a line break in it there would
    ///   be more than one request.
    func head(forProxy proxy: HTTPProxy?) throws(TrustedHTTPFailure) -> HTTPRequestHead {
        guard method != .CONNECT, Self.isToken(method.rawValue) else { throw .invalidMethod(method.rawValue) }
        var fields = HTTPHeaders()
        if !headers.contains(name: "Host") { fields.add(name: "Host", value: url.authority) }
        for (name, value) in headers where !Self.ownFields.contains(name.lowercased()) {
            fields.add(name: name, value: value)
        }
        fields.add(name: "Connection", value: "close")
        if !body.isEmpty || Self.methodsWithBody.contains(method) {
            fields.add(name: "Content-Length", value: String(body.count))
        }
        if let authorization = proxy?.authorization { fields.add(name: "Proxy-Authorization", value: authorization) }
        try Self.check(fields)
        let target = proxy == nil ? url.target : "\(url)"
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: fields)
    }

    static func check(_ headers: HTTPHeaders) throws(TrustedHTTPFailure) {
        for (name, value) in headers {
            // RFC 9110, 5.5: no control characters but the tab.
            let isText = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
            guard isToken(name), isText else { throw .invalidHeader(name) }
        }
    }

    private static let ownFields: Set = ["connection", "content-length", "transfer-encoding", "keep-alive"]

    /// Whose requests say that they have none (RFC 9110, 8.6).
    private static let methodsWithBody: [HTTPMethod] = [.POST, .PUT, .PATCH]

    /// RFC 9110, 5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: "!#$%&'*+-.^_`|~".unicodeScalars.contains(scalar)
                }
            }
    }
}
