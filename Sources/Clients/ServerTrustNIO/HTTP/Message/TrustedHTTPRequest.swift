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
