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
