public import AsyncHTTPClient
import NIOCore
import NIOSSL
public import ServerTrust

extension HTTPClient.Configuration {
    /// Returns a copy of the configuration with a manager that evaluates every TLS connection before the first byte of
    /// a request is sent: over HTTP/1.1 and HTTP/2, for every host, and after redirects.
    ///
    /// ```swift
    /// let pins = try PinSet(["sha256/…", "sha256/…"])
    /// let manager = ServerTrustManager(evaluators: ["api.example.org": PinSetTrustEvaluator(pins: pins)])
    /// let client = HTTPClient(configuration: HTTPClient.Configuration().enforcing(manager))
    /// ```
    ///
    /// Call it last, because later changes of the configuration are not taken into account. Connection initializers
    /// that are already set run after the evaluation. The method changes:
    ///
    /// - `http1_1ConnectionDebugInitializer` and `http2ConnectionDebugInitializer`, which evaluate connections. Do not
    ///   replace them later, because no server is evaluated without them.
    /// - `tlsConfiguration`: TLS 1.2 or later, no RSA key exchange unless it contains cipher suites, and the roots and
    ///   verification of ``ServerTrustEnforcement/handshakeVerification``. Its client certificate is kept. Requests
    ///   with their own `tlsConfiguration` are evaluated too.
    /// - `connectionPool.retryConnectionEstablishment` becomes false. Otherwise a refused server would be contacted
    ///   repeatedly until `timeout.connect`. To retry other connection failures, set it to true afterwards.
    ///
    /// A refused request throws `ServerTrustError`. `docs/server-trust.md` lists the data that is not available, and
    /// the evaluators that behave differently.
    ///
    /// - Parameters:
    ///   - manager: The evaluators of hosts. The host is that of the TLS connection: the host of the URL, or the one
    ///     that `dnsOverride` sets for TLS. A `Host` header is ignored.
    ///   - enforcement: The anchors, revocation and limits.
    public func enforcing(
        _ manager: ServerTrustManager,
        _ enforcement: ServerTrustEnforcement = ServerTrustEnforcement()
    ) -> HTTPClient.Configuration {
        var configuration = self
        let tls = (tlsConfiguration ?? .makeClientConfiguration()).enforcing(enforcement, manager)
        let admission = ConnectionAdmission(
            evaluator: ConnectionEvaluator(
                manager: manager,
                enforcement: enforcement,
                fetcher: proxy == nil && enforcement.fetchesChains
                    ? ChainFetcher(tls, offersHTTP2: httpVersion == .automatic) : nil
            ),
            isProxied: proxy != nil
        )
        configuration.tlsConfiguration = tls
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { [http1_1ConnectionDebugInitializer] channel in
            Self.run(http1_1ConnectionDebugInitializer, on: channel, after: admission.admit(channel))
        }
        configuration.http2ConnectionDebugInitializer = { [http2ConnectionDebugInitializer] channel in
            Self.run(http2ConnectionDebugInitializer, on: channel, after: admission.admitHTTP2(channel))
        }
        return configuration
    }

    private static func run(
        _ initializer: (@Sendable (any Channel) -> EventLoopFuture<Void>)?,
        on channel: any Channel,
        after verdict: EventLoopFuture<Void>
    ) -> EventLoopFuture<Void> {
        guard let initializer else { return verdict }
        return verdict.flatMap { initializer(channel) }
    }
}

/// The settings of the evaluation of a client's connections. The defaults suit servers on the internet.
public struct ServerTrustEnforcement: Sendable {
    /// The anchors, requirements, revocation, cache, time and log of each evaluation. Stapled responses are not
    /// available on these connections. Refusals are logged at `warning`.
    public var configuration = TrustConfiguration()

    /// The verification by the TLS library during the handshake, before the manager evaluates the server.
    public var handshakeVerification = HandshakeVerification.full()

    /// The authorities that may be needed between a server's certificate and an anchor. They are required only if the
    /// certificates that a server sends cannot be fetched: through a proxy, or without ``fetchesChains``.
    public var intermediates: [TrustCertificate] = []

    /// A Boolean value that indicates whether the certificates of a new server are fetched with a second handshake.
    ///
    /// async-http-client provides only the server's own certificate. Without the others most chains cannot be built,
    /// and are refused. The second connection has the same address and name, and ends before any HTTP data is sent.
    public var fetchesChains = true

    /// The time limit for the evaluation of one connection, including revocation and the second handshake. If it is
    /// exceeded, the connection is refused with `TrustFailure.timedOut(_:)`.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// A Boolean value that indicates whether connections without TLS are permitted, for `http` URLs and redirects to
    /// them. Their servers are not evaluated.
    public var allowsPlainHTTP = false

    /// Creates settings with the defaults.
    public init() {}
}

/// The verification by BoringSSL, the TLS library of async-http-client, during the handshake.
public enum HandshakeVerification: Sendable {
    /// BoringSSL verifies the chain to the anchors, its times, and the host. The manager evaluates the server
    /// afterwards. A server must pass both.
    ///
    /// If BoringSSL refuses a server, the manager does not evaluate it, and the request fails with an error of NIOSSL
    /// without a `TrustFailure`. `DisabledTrustEvaluator`, and evaluators that do not require a valid chain or host,
    /// are therefore stricter than documented. Pinned self-signed certificates must also be in `alsoTrusting`, which
    /// does not make a server trusted without the manager. BoringSSL refuses them even there if they are not
    /// certificate authorities.
    case full(alsoTrusting: [TrustCertificate] = [])

    /// BoringSSL verifies nothing, and only the manager decides. Every evaluator works as documented, and every refusal
    /// has a `TrustFailure`.
    ///
    /// The security then depends on the two connection initializers of the configuration: if they are replaced later,
    /// every server is trusted. The handshake still proves that the server has the key of its certificate.
    case managerAlone
}

extension TLSConfiguration {
    /// Returns a copy with TLS 1.2 or later, without RSA key exchange unless cipher suites were chosen, and with the
    /// verification of the handshake.
    func enforcing(_ enforcement: ServerTrustEnforcement, _ manager: ServerTrustManager) -> TLSConfiguration {
        var configuration = self
        configuration.minimumTLSVersion = minimumTLSVersion.atLeast12
        configuration.maximumTLSVersion = maximumTLSVersion?.atLeast12
        // RSA key exchange has no forward secrecy (RFC 9325, 4.1). It stays permitted if the user has chosen the cipher
        // suites.
        if cipherSuites == TLSConfiguration.makeClientConfiguration().cipherSuites {
            configuration.cipherSuites += ":!kRSA"
        }
        let anchors = manager.anchors ?? enforcement.configuration.anchors
        switch enforcement.handshakeVerification {
        case .full(let others):
            configuration.certificateVerification = .fullVerification
            configuration.trustRoots = .certificates(Self.roots(anchors.certificates + others))
            configuration.additionalTrustRoots = []
        case .managerAlone:
            configuration.certificateVerification = .none
        }
        return configuration
    }

    /// Returns the certificates that BoringSSL can parse. Others are skipped, which makes BoringSSL trust fewer
    /// servers.
    private static func roots(_ certificates: [TrustCertificate]) -> [NIOSSLCertificate] {
        certificates.compactMap { try? NIOSSLCertificate(bytes: $0.derRepresentation, format: .der) }
    }
}

extension TLSVersion {
    fileprivate var atLeast12: TLSVersion {
        switch self {
        case .tlsv1, .tlsv11: .tlsv12
        case .tlsv12, .tlsv13: self
        }
    }
}
