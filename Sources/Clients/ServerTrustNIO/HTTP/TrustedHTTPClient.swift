import LinuxSupport
import NIOCore
package import NIOHTTP1
import NIOPosix
import ServerTrust

/// An HTTP/1.1 client for the requests of this package: revocation, webhooks, heartbeats and web probes.
///
/// A `ServerTrustManager` verifies each `https` server. The client opens one connection for each request and closes it
/// after the response. It has no cookies, follows no redirects, decompresses nothing, and reads no environment
/// variables. Thread-safe.
package struct TrustedHTTPClient: Sendable {
    /// The default settings of requests.
    package let settings: TrustedHTTPSettings
    /// The source of TLS handlers; nil for a client of plain `http`.
    let tls: ServerTrustHandlerFactory?
    private let connector: any HTTPConnecting

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - tls: The source of TLS handlers; nil for a client of plain `http`.
    ///   - settings: The default settings of requests.
    ///   - connector: The source of connections.
    package init(
        tls: ServerTrustHandlerFactory?,
        settings: TrustedHTTPSettings = TrustedHTTPSettings(),
        connector: any HTTPConnecting = SocketConnector(group: .singleton)
    ) {
        (self.tls, self.settings, self.connector) = (tls, settings, connector)
    }

    /// Sends a request and reads the response, whatever its status is.
    ///
    /// If the task is cancelled or the time limit is exceeded, the connection is closed immediately. A name lookup
    /// cannot be cancelled, so it continues in the background.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - settings: The settings of this request; nil for the default settings.
    /// - Throws: ``TrustedHTTPFailure``.
    package func execute(
        _ request: TrustedHTTPRequest,
        settings: TrustedHTTPSettings? = nil
    ) async throws(TrustedHTTPFailure) -> TrustedHTTPResponse {
        let trace = try await trace(request, settings: settings)
        if let failure = trace.failure { throw failure }
        guard let head = trace.head else { throw .connectionClosed(trace.stage) }
        // Without a tunnel, a response with status 407 can only be from the proxy.
        if (settings ?? self.settings).proxy != nil, request.url.scheme == .http, head.status.code == 407 {
            throw .proxyRefused(status: 407, reason: head.status.reasonPhrase)
        }
        return TrustedHTTPResponse(
            status: head.status,
            headers: head.headers,
            body: trace.body,
            handshake: trace.handshake
        )
    }

    /// Sends a request, and returns its stages, even if it fails.
    ///
    /// - Parameter suffices: Returns whether a part of the body from its beginning is sufficient; nil to apply only the
    ///   settings. It is called for ever longer parts, each at least twice as long as the one before.
    /// - Throws: ``TrustedHTTPFailure`` if the request is invalid. Nothing is sent in this case.
    package func trace(
        _ request: TrustedHTTPRequest,
        settings: TrustedHTTPSettings? = nil,
        suffices: (@Sendable ([UInt8]) -> Bool)? = nil
    ) async throws(TrustedHTTPFailure) -> HTTPTrace {
        let settings = settings ?? self.settings
        let head = try request.head(forProxy: request.url.scheme == .http ? settings.proxy : nil)
        if let authorization = settings.proxy?.authorization {
            try TrustedHTTPRequest.check(["Proxy-Authorization": authorization])
        }
        return await HTTPExchange(
            request: request,
            head: head,
            settings: settings,
            tls: tls,
            connector: connector,
            loop: connector.nextLoop(),
            suffices: suffices
        ).run()
    }
}

/// The limits of a request, and the way it ends.
package struct TrustedHTTPSettings: Hashable, Sendable {
    /// The time limit from the call to the last byte.
    package var timeLimit: Duration = .seconds(30)
    /// The time limit for one connection, from the lookup of the host until one of its addresses accepts.
    package var connectTimeLimit: Duration = .seconds(10)
    /// The maximum number of bytes in the names and values of the header fields of a response, including trailers. The
    /// maximum number of fields is 256.
    package var maximumHeaderBytes = 64 << 10
    /// The maximum number of bytes of a response body. A longer body is an error.
    package var maximumBodyBytes = 1 << 20
    /// The number of bytes of the body after which the response is complete: 0 for a response without its body, nil for
    /// the whole body.
    package var sufficientBodyBytes: Int?
    /// A Boolean value that indicates whether the exchange ends with the TLS handshake, without a request.
    package var endsWithHandshake = false
    /// A Boolean value that indicates whether the connection is closed without the closing alert of TLS. The server may
    /// then omit it too.
    package var omitsClosingAlert = false
    /// The proxy; nil for none.
    package var proxy: HTTPProxy?
    /// A Boolean value that indicates whether connections to loopback, link-local and multicast addresses are
    /// permitted. The address of the proxy is not checked.
    var allowsLocalAddresses = true

    package init() {}
}

/// An HTTP proxy that is contacted without TLS.
///
/// For `https` URLs the proxy opens a tunnel (CONNECT, RFC 9110, 9.3.6), and the server in the tunnel is verified.
/// Requests for `http` URLs are sent to the proxy itself (RFC 9112, 3.2.2), so it can read and change them.
public struct HTTPProxy: Hashable, Sendable {
    /// The name or address of the proxy.
    public var host: String

    /// The port of the proxy.
    public var port: Int

    /// The value of the header field `Proxy-Authorization` (RFC 9110, 11.7.2), see ``basic(user:password:)``; nil for
    /// none.
    public var authorization: String?

    /// Creates a proxy. If `authorization` is nil, no credentials are sent.
    public init(host: String, port: Int, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// Returns the value of `authorization` for a name and a password (Basic, RFC 7617). They can be read on the path
    /// to the proxy.
    public static func basic(user: String, password: String) -> String {
        "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
    }
}

/// A request. The client adds only the header fields `Host`, `Connection`, `Content-Length`, and the credentials for a
/// proxy.
package struct TrustedHTTPRequest: Sendable {
    package var url: TrustedHTTPURL
    /// The method: any except CONNECT.
    package var method: HTTPMethod
    /// The header fields. `Connection`, `Content-Length` and `Transfer-Encoding` are replaced. A `Host` field is kept,
    /// but TLS uses the host of the URL.
    package var headers: HTTPHeaders
    package var body: [UInt8]

    package init(
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

    /// Creates a request from the text of a URL.
    ///
    /// - Throws: ``TrustedHTTPFailure/invalidURL(_:problem:)``.
    package init(
        _ url: String,
        method: HTTPMethod = .GET,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = []
    ) throws(TrustedHTTPFailure) {
        self.init(url: try TrustedHTTPURL(url), method: method, headers: headers, body: body)
    }
}

/// A response. Trailers are omitted, and nothing is decompressed.
package struct TrustedHTTPResponse: Sendable {
    /// The status, from 200 to 999.
    package let status: HTTPResponseStatus
    /// The header fields, in the order of the server.
    package let headers: HTTPHeaders
    /// The body; empty for HEAD, 204 and 304.
    package let body: [UInt8]
    /// The parameters of the TLS handshake and the verified certificates; nil for plain `http`.
    package let handshake: TrustedHandshake?
}

extension TrustedHTTPRequest {
    /// Returns the request line and the header fields as they are sent (RFC 9112, 3).
    ///
    /// - Parameter proxy: The proxy that the request is sent to without a tunnel; nil for the server.
    /// - Throws: ``TrustedHTTPFailure/invalidMethod(_:)`` or ``TrustedHTTPFailure/invalidHeader(_:)``, because a line
    ///   break would start a second request.
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
            // RFC 9110, 5.5: no control characters except the tab.
            let isText = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
            guard isToken(name), isText else { throw .invalidHeader(name) }
        }
    }

    private static let ownFields: Set = ["connection", "content-length", "transfer-encoding", "keep-alive"]

    /// The methods whose requests have a `Content-Length` even without a body (RFC 9110, 8.6).
    private static let methodsWithBody: [HTTPMethod] = [.POST, .PUT, .PATCH]

    /// Returns whether a text is a token (RFC 9110, 5.6.2).
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
