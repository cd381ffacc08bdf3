import NIOCore
import NIOHTTP1
public import NIOPosix
public import ServerTrust

/// A small client of HTTP/1.1 that asks a manager of server trust about every server of `https`.
///
/// It makes one connection for each request and closes it after the answer. It keeps no cookies, follows no redirects unless told,
/// decompresses nothing, and reads no variables of the environment. Any thread and any number of tasks may use it at once.
///
/// ```swift
/// let client = try TrustedHTTPClient(manager: manager)
/// let response = try await client.execute(TrustedHTTPRequest("https://example.org/"))
/// print(response.status.code, response.body.count)
/// ```
///
/// A server that is not trusted makes ``execute(_:settings:)`` throw a ``TrustedHTTPError`` whose reason is
/// ``TrustedHTTPFailure/untrusted(_:)`` with the manager's error.
public struct TrustedHTTPClient: Sendable {
    /// For requests without settings of their own.
    public let settings: TrustedHTTPSettings

    /// What speaks TLS.
    public let tls: ServerTrustHandlerFactory

    private let connector: any HTTPConnecting

    /// - Parameters:
    ///   - tls: Speaks TLS, and knows who decides.
    ///   - settings: For requests without settings of their own.
    ///   - group: Whose threads do the work. When it is shut down, what runs on it fails.
    public init(
        tls: ServerTrustHandlerFactory,
        settings: TrustedHTTPSettings = TrustedHTTPSettings(),
        group: MultiThreadedEventLoopGroup = .singleton
    ) {
        self.init(tls: tls, settings: settings, connector: SocketConnector(group: group))
    }

    /// The same for a manager, with everything else of TLS at its defaults.
    ///
    /// - Throws: `TLSSettingsError` of ServerTrustNIO.
    public init(
        manager: ServerTrustManager,
        settings: TrustedHTTPSettings = TrustedHTTPSettings(),
        group: MultiThreadedEventLoopGroup = .singleton
    ) throws(TLSSettingsError) {
        self.init(tls: try ServerTrustHandlerFactory(manager: manager), settings: settings, group: group)
    }

    init(tls: ServerTrustHandlerFactory, settings: TrustedHTTPSettings, connector: any HTTPConnecting) {
        self.tls = tls
        self.settings = settings
        self.connector = connector
    }

    /// Sends a request and reads the whole answer, whatever its status is.
    ///
    /// When the task is cancelled, or the time is up, the connection is closed at once. A lookup of a name that is under way then goes
    /// on until the resolver gives up, unheard.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - settings: In the place of the client's.
    /// - Throws: ``TrustedHTTPError``.
    public func execute(
        _ request: TrustedHTTPRequest,
        settings: TrustedHTTPSettings? = nil
    ) async throws(TrustedHTTPError) -> TrustedHTTPResponse {
        let settings = settings ?? self.settings
        let loop = connector.nextLoop()
        let deadline = loop.now + TimeAmount(limit: settings.timeLimit)
        var request = request
        var redirects: [TrustedHTTPURL] = []
        do throws(TrustedHTTPFailure) {
            while true {
                var response = try await answer(to: request, settings, on: loop, before: deadline)
                response.redirects = redirects
                guard case .follow(let maximum) = settings.redirects else { return response }
                guard let next = try Redirect.next(after: response, to: request) else { return response }
                guard redirects.count < maximum else { throw .tooManyRedirects(limit: maximum) }
                redirects.append(request.url)
                request = next
            }
        } catch {
            throw TrustedHTTPError(reason: error, method: request.method.rawValue, url: request.url)
        }
    }

    private func answer(
        to request: TrustedHTTPRequest,
        _ settings: TrustedHTTPSettings,
        on loop: any EventLoop,
        before deadline: NIODeadline
    ) async throws(TrustedHTTPFailure) -> TrustedHTTPResponse {
        let head = try request.head(forProxy: request.url.scheme == .http ? settings.proxy : nil)
        if let authorization = settings.proxy?.authorization {
            try TrustedHTTPRequest.check(["Proxy-Authorization": authorization])
        }
        let attempt = HTTPAttempt(
            request: request,
            head: head,
            settings: settings,
            tls: tls,
            connector: connector,
            loop: loop,
            deadline: deadline
        )
        let response = try await attempt.outcome().get()
        // Without a tunnel this can only be the proxy's own answer.
        if settings.proxy != nil, request.url.scheme == .http, response.status.code == 407 {
            throw .proxyRefused(status: 407, reason: response.status.reasonPhrase)
        }
        return response
    }
}

/// Limits of each request, and what stands in its way.
public struct TrustedHTTPSettings: Hashable, Sendable {
    /// What is done about answers that redirect: 301, 302, 303, 307 and 308 with a `Location` (RFC 9110, 15.4).
    public enum Redirects: Hashable, Sendable {
        /// Such an answer is an answer like others.
        case refused
        /// So many are followed, one after the other. Never from `https` to `http`. To another scheme, host or port `Authorization`,
        /// `Cookie`, `Proxy-Authorization` and a `Host` of yours are not sent, and not again afterwards. 303, and 301 or 302 after
        /// POST, turn into GET without a body.
        case follow(maximum: Int)
    }

    /// From the call to the last byte, redirects and all.
    public var timeLimit: Duration = .seconds(30)

    /// For one connection: from looking up the host to the connection, whichever of its addresses takes it.
    public var connectTimeLimit: Duration = .seconds(10)

    /// The most bytes of names and values of the header fields of one answer, trailers included. There are never more than 256 fields.
    public var maximumHeaderBytes = 64 << 10

    /// The most bytes of a body. A body with one more is refused without reading on.
    public var maximumBodyBytes = 1 << 20

    /// Not followed unless told otherwise.
    public var redirects = Redirects.refused

    /// Whom to ask in the place of the servers; nil for nobody. The variables of the environment are not read.
    public var proxy: HTTPProxy?

    /// Whether an answer is over with its head: its body is not waited for, however it ends.
    package var endsWithHead = false

    /// Whether connections to loopback, link-local and multicast addresses are made. The proxy's address is not looked at.
    var allowsLocalAddresses = true

    /// All at their defaults.
    public init() {}
}

/// A proxy of HTTP that is reached without TLS. For `https` it is asked for a tunnel (CONNECT, RFC 9110, 9.3.6), within which the server
/// itself is judged; requests for plain `http` are sent to it whole (RFC 9112, 3.2.2), so it can read and change them.
public struct HTTPProxy: Hashable, Sendable {
    /// Its name or address.
    public var host: String

    /// Its port.
    public var port: Int

    /// `Proxy-Authorization` (RFC 9110, 11.7.2), see ``basic(user:password:)``; nil for none.
    public var authorization: String?

    /// A proxy that need not know who asks, unless told.
    public init(host: String, port: Int, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// Name and password as they are sent (RFC 7617): whoever hears the way to the proxy can read them.
    public static func basic(user: String, password: String) -> String {
        "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
    }
}

/// What an answer that redirects makes of a request (RFC 9110, 15.4).
enum Redirect {
    /// The request to follow with; nil when the answer does not redirect.
    static func next(
        after response: TrustedHTTPResponse,
        to request: TrustedHTTPRequest
    ) throws(TrustedHTTPFailure) -> TrustedHTTPRequest? {
        guard statuses.contains(response.status.code) else { return nil }
        let places = Set(response.headers[canonicalForm: "Location"])
        guard let place = places.first else { return nil }
        guard places.count == 1 else {
            throw .invalidRedirect(String(place), problem: "it names another place, too")
        }
        var next = request
        next.url = try url(String(place), from: request.url)
        if turnsIntoGet(response.status, request.method) {
            next.method = .GET
            next.body = []
            for name in bodyFields { next.headers.remove(name: name) }
        }
        if !next.url.hasOrigin(of: request.url) {
            for name in ownFields { next.headers.remove(name: name) }
        }
        return next
    }

    private static func url(_ place: String, from base: TrustedHTTPURL) throws(TrustedHTTPFailure) -> TrustedHTTPURL {
        let url: TrustedHTTPURL
        do {
            url = try base.resolving(place)
        } catch {
            guard case .invalidURL(let text, let problem) = error else { throw error }
            throw .invalidRedirect(text, problem: problem)
        }
        guard base.scheme == .http || url.scheme == .https else { throw .insecureRedirect(url) }
        return url
    }

    /// 303 says so; after 301 and 302 everybody does it with POST (RFC 9110, 15.4.2 and 15.4.3).
    private static func turnsIntoGet(_ status: HTTPResponseStatus, _ method: HTTPMethod) -> Bool {
        switch status.code {
        case 303: method != .GET && method != .HEAD
        case 301, 302: method == .POST
        default: false
        }
    }

    private static let statuses: Set<UInt> = [301, 302, 303, 307, 308]

    private static let bodyFields = ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"]

    /// Nobody else's business.
    private static let ownFields = ["Authorization", "Proxy-Authorization", "Cookie", "Host"]
}
