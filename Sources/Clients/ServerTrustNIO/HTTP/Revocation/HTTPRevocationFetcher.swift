import NIOHTTP1
public import NIOPosix
public import ServerTrust

/// Fetches OCSP responses and revocation lists for a `RevocationChecker`.
///
/// The URLs are plain `http` nearly always, for the answers are signed. The servers of `https` URLs are judged as
/// `DefaultTrustEvaluator` does, and nobody is asked whether their certificates have been revoked: that question could wait for itself.
/// Redirects are not followed.
///
/// ```swift
/// let checker = RevocationChecker(fetcher: try HTTPRevocationFetcher())
/// ```
public struct HTTPRevocationFetcher: RevocationFetching {
    private let client: TrustedHTTPClient

    /// - Parameters:
    ///   - configuration: What judging the servers of `https` URLs begins with; its revocation is left away.
    ///   - proxy: Whom to ask in the place of the servers. It is the proxy then that knows their addresses, and must refuse its own.
    ///   - allowsLocalAddresses: Whether responders and lists at loopback, link-local and multicast addresses are asked, however a URL
    ///     leads there. The URLs stand in certificates that strangers show. Private addresses (RFC 1918, RFC 4193) are asked always.
    ///   - group: Whose threads do the work.
    /// - Throws: `TLSSettingsError` of ServerTrustNIO.
    public init(
        configuration: TrustConfiguration = TrustConfiguration(),
        proxy: HTTPProxy? = nil,
        allowsLocalAddresses: Bool = false,
        group: MultiThreadedEventLoopGroup = .singleton
    ) throws(TLSSettingsError) {
        var configuration = configuration
        configuration.revocation = nil
        let manager = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        let tls = try ServerTrustHandlerFactory(manager: manager, configuration: configuration)
        var settings = TrustedHTTPSettings()
        settings.proxy = proxy
        settings.allowsLocalAddresses = allowsLocalAddresses
        client = TrustedHTTPClient(tls: tls, settings: settings, group: group)
    }

    /// The body of the answer with status 200.
    public func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8] {
        var settings = client.settings
        settings.timeLimit = request.timeLimit
        settings.connectTimeLimit = request.timeLimit
        settings.maximumBodyBytes = request.sizeLimit
        let response: TrustedHTTPResponse
        do {
            response = try await client.execute(try Self.question(request), settings: settings)
        } catch {
            throw RevocationFetchError(error)
        }
        guard response.status.code == 200 else { throw .status(Int(response.status.code)) }
        return response.body
    }

    private static func question(_ request: RevocationRequest) throws(TrustedHTTPError) -> TrustedHTTPRequest {
        var headers: HTTPHeaders = ["Accept": request.accept]
        if let contentType = request.contentType { headers.add(name: "Content-Type", value: contentType) }
        let method = HTTPMethod(rawValue: request.method.rawValue)
        return try TrustedHTTPRequest(request.url, method: method, headers: headers, body: request.body)
    }
}

extension RevocationFetchError {
    /// What a checker is told.
    init(_ error: TrustedHTTPError) {
        switch error.reason {
        case .timedOut, .connectTimedOut: self = .timedOut
        case .bodyTooLarge: self = .tooLarge
        default: self = .failed("\(error)")
        }
    }
}
