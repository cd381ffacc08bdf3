import NIOHTTP1
public import NIOPosix
public import ServerTrust

/// A fetcher of OCSP responses and revocation lists for a `RevocationChecker`.
///
/// Nearly all URLs are plain `http`, because the responses are signed. Servers of `https` URLs are verified as by
/// `DefaultTrustEvaluator`. The revocation of their own certificates is not checked, because the check could wait for
/// itself. Redirects are not followed.
///
/// ```swift
/// let checker = RevocationChecker(fetcher: try HTTPRevocationFetcher())
/// ```
public struct HTTPRevocationFetcher: RevocationFetching {
    private let client: TrustedHTTPClient

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - configuration: The configuration for servers of `https` URLs. Its revocation checker is ignored.
    ///   - proxy: The proxy for all requests; nil for none. The proxy resolves the names, and must itself refuse its
    ///     local addresses.
    ///   - allowsLocalAddresses: A Boolean value that indicates whether loopback, link-local and multicast addresses
    ///     are contacted. Keep it false, because the URLs are from certificates of unknown servers. Private addresses
    ///     (RFC 1918, RFC 4193) are always contacted.
    ///   - group: The event loops of the connections.
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
        client = TrustedHTTPClient(tls: tls, settings: settings, connector: SocketConnector(group: group))
    }

    /// Fetches the body of a response with status 200.
    ///
    /// - Throws: `RevocationFetchError`.
    public func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8] {
        var settings = client.settings
        settings.timeLimit = request.timeLimit
        settings.connectTimeLimit = request.timeLimit
        settings.maximumBodyBytes = request.sizeLimit
        let response: TrustedHTTPResponse
        do {
            response = try await client.execute(try Self.request(request), settings: settings)
        } catch {
            switch error {
            case .timedOut, .connectTimedOut: throw .timedOut
            case .bodyTooLarge: throw .tooLarge
            default: throw .failed("\(request.method.rawValue) \(request.url): \(error)")
            }
        }
        guard response.status.code == 200 else { throw .status(Int(response.status.code)) }
        return response.body
    }

    private static func request(_ request: RevocationRequest) throws(TrustedHTTPFailure) -> TrustedHTTPRequest {
        var headers: HTTPHeaders = ["Accept": request.accept]
        if let contentType = request.contentType { headers.add(name: "Content-Type", value: contentType) }
        let method = HTTPMethod(rawValue: request.method.rawValue)
        return try TrustedHTTPRequest(request.url, method: method, headers: headers, body: request.body)
    }
}
