import LinuxSupport
import NIOCore
package import NIOHTTP1
import NIOPosix
import ServerTrust

/// A client of HTTP/1.1 for requests of this package: revocation, webhooks, heartbeats and web probes.
///
/// A manager of server trust judges each server of `https`. The client makes one connection for each request and closes it after the
/// response. It keeps no cookies, follows no redirects, decompresses nothing, and reads no environment variables. Thread-safe.
package struct TrustedHTTPClient: Sendable {
    /// The settings of requests that have none of their own.
    package let settings: TrustedHTTPSettings
    /// Nil for a client of plain `http`.
    let tls: ServerTrustHandlerFactory?
    private let connector: any HTTPConnecting

    /// - Parameters:
    ///   - tls: The source of TLS; nil for a client of plain `http`.
    ///   - settings: The settings of requests that have none of their own.
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
    /// If the task is cancelled or the time is up, the connection is closed at once. A name lookup that has begun ends later, unnoticed.
    ///
    /// - Parameter settings: Replaces the settings of the client.
    package func execute(
        _ request: TrustedHTTPRequest,
        settings: TrustedHTTPSettings? = nil
    ) async throws(TrustedHTTPFailure) -> TrustedHTTPResponse {
        let trace = try await trace(request, settings: settings)
        if let failure = trace.failure { throw failure }
        guard let head = trace.head else { throw .connectionClosed(trace.stage) }
        // Without a tunnel this can only be a response of the proxy itself.
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

    /// Sends a request, and returns each stage of it, also of a request that fails.
    ///
    /// - Throws: An error about the request itself. Nothing was sent then.
    package func trace(
        _ request: TrustedHTTPRequest,
        settings: TrustedHTTPSettings? = nil
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
            loop: connector.nextLoop()
        ).run()
    }
}

/// The limits of a request, and how it ends.
package struct TrustedHTTPSettings: Hashable, Sendable {
    /// The time limit from the call to the last byte.
    package var timeLimit: Duration = .seconds(30)
    /// The time limit for one connection, from the lookup of the host until one of its addresses accepts.
    package var connectTimeLimit: Duration = .seconds(10)
    /// The maximum number of bytes in names and values of the header fields of a response, including trailers. There are never more than
    /// 256 fields.
    package var maximumHeaderBytes = 64 << 10
    /// The maximum number of bytes of a body. The body is refused as soon as it has one more.
    package var maximumBodyBytes = 1 << 20
    /// The number of bytes of a body after which the response is complete, and 0 for a response without its body; nil for the whole body.
    package var sufficientBodyBytes: Int?
    /// A Boolean value that indicates whether the exchange ends with the handshake of TLS, and no request is sent.
    package var endsWithHandshake = false
    /// A Boolean value that indicates whether the connection is closed without the closing alert of TLS. A server may
    /// then omit it too.
    package var omitsClosingAlert = false
    /// The proxy; nil for none.
    package var proxy: HTTPProxy?
    /// A Boolean value that indicates whether connections to loopback, link-local and multicast addresses are made. The
    /// address of the proxy is not checked.
    var allowsLocalAddresses = true

    package init() {}
}

/// A proxy of HTTP that is reached without TLS. For `https` it is asked for a tunnel (CONNECT, RFC 9110, 9.3.6), within which the server
/// itself is judged. Requests for plain `http` are sent to it whole (RFC 9112, 3.2.2), so it can read and change them.
public struct HTTPProxy: Hashable, Sendable {
    /// Its name or address.
    public var host: String

    /// Its port.
    public var port: Int

    /// The header field `Proxy-Authorization` (RFC 9110, 11.7.2), see ``basic(user:password:)``; nil for none.
    public var authorization: String?

    /// Creates a proxy that requires no credentials unless `authorization` is given.
    public init(host: String, port: Int, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// Encodes name and password for `authorization` (RFC 7617). They can be read on the way to the proxy.
    public static func basic(user: String, password: String) -> String {
        "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
    }
}

/// A request. No header is added except `Host`, `Connection`, `Content-Length`, and the credentials for a proxy.
package struct TrustedHTTPRequest: Sendable {
    package var url: TrustedHTTPURL
    /// Any method except CONNECT.
    package var method: HTTPMethod
    /// `Connection`, `Content-Length` and `Transfer-Encoding` are replaced. A `Host` is kept; TLS uses the host of the URL.
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

/// A response. Trailers are left out, and nothing is decompressed.
package struct TrustedHTTPResponse: Sendable {
    /// 200 to 999.
    package let status: HTTPResponseStatus
    /// In the sequence of the server.
    package let headers: HTTPHeaders
    /// Empty for HEAD, 204 and 304.
    package let body: [UInt8]
    /// The agreed parameters and the judged certificates; nil for plain `http`.
    package let handshake: TrustedHandshake?
}

extension TrustedHTTPRequest {
    /// Returns the head as it is sent (RFC 9112, 3).
    ///
    /// - Parameter proxy: The proxy that the request is sent to without a tunnel; nil for the server.
    /// - Throws: ``TrustedHTTPFailure/invalidMethod(_:)`` or ``TrustedHTTPFailure/invalidHeader(_:)``, because a line break would make a
    ///   second request.
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

    /// The methods whose requests have a `Content-Length` also without a body (RFC 9110, 8.6).
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
