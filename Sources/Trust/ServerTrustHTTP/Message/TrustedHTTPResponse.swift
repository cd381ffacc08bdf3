public import NIOHTTP1
public import ServerTrustNIO

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
