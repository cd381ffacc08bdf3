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
