import NIOHTTP1
public import NIOPosix
public import ServerTrust

/// Fetches OCSP responses and revocation lists for a `RevocationChecker`.
///
/// Nearly all URLs are plain `http`, because the responses are signed. Servers of `https` URLs are judged as `DefaultTrustEvaluator` does,
/// without revocation of their own certificates, which could wait for itself.
/// Redirects are not followed.
///
/// ```swift
/// let checker = RevocationChecker(fetcher: try HTTPRevocationFetcher())
/// ```
public struct HTTPRevocationFetcher: RevocationFetching {
    private let client: TrustedHTTPClient

    /// - Parameters:
    ///   - configuration: The configuration for servers of `https` URLs; its revocation is ignored.
    ///   - proxy: The proxy to send all requests to. The proxy resolves the names, and must refuse its own local
    ///     addresses.
    ///   - allowsLocalAddresses: A Boolean value that indicates whether loopback, link-local and multicast addresses
    ///     are contacted. The URLs are from certificates of strangers. Private addresses (RFC 1918, RFC 4193) are
    ///     always contacted.
    ///   - group: The event loops that do the work.
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

    /// Returns the body of a response with status 200.
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
