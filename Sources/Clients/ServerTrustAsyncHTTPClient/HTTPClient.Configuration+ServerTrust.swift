public import AsyncHTTPClient
import NIOCore
import NIOSSL
public import ServerTrust

extension HTTPClient.Configuration {
    /// These settings, with a manager that every TLS connection must pass before the first byte of a request is sent on it: over
    /// HTTP/1.1 and HTTP/2, of every host, also after redirects.
    ///
    /// ```swift
    /// let pins = try PinSet(["sha256/…", "sha256/…"])
    /// let manager = ServerTrustManager(evaluators: ["api.example.org": PinSetTrustEvaluator(pins: pins)])
    /// let client = HTTPClient(configuration: HTTPClient.Configuration().enforcing(manager))
    /// ```
    ///
    /// Call it last: what is set afterwards is not looked at. Initializers of connections that are there already run after the verdict.
    /// It changes:
    ///
    /// - `http1_1ConnectionDebugInitializer` and `http2ConnectionDebugInitializer`, where connections are judged. Without them there
    ///   is no enforcement: do not set them later.
    /// - `tlsConfiguration`: TLS 1.2 at least, no key exchange by RSA unless it has suites of its own, and the roots and the verification of
    ///   ``ServerTrustEnforcement/handshakeVerification``. A client certificate in it stays. A request with a
    ///   `tlsConfiguration` of its own is judged as well.
    /// - `connectionPool.retryConnectionEstablishment` is false: a server that is refused would else be asked again until
    ///   `timeout.connect` is over. Set it afterwards if other failures of connections should be retried.
    ///
    /// A refused request fails with `ServerTrustError`. What cannot be seen, and which evaluators are exact here, is in
    /// `docs/server-trust.md`.
    ///
    /// - Parameters:
    ///   - manager: Which evaluator is for which host. The host is the one of the TLS connection: the URL's, or what `dnsOverride`
    ///     says TLS is for; never a `Host` header.
    ///   - enforcement: Anchors, revocation, limits.
    public func enforcing(
        _ manager: ServerTrustManager,
        _ enforcement: ServerTrustEnforcement = ServerTrustEnforcement()
    ) -> HTTPClient.Configuration {
        var configuration = self
        let tls = (tlsConfiguration ?? .makeClientConfiguration()).enforcing(enforcement, manager)
        let gatekeeper = ConnectionGatekeeper(
            judge: ConnectionJudge(
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
            Self.run(http1_1ConnectionDebugInitializer, on: channel, after: gatekeeper.admit(channel))
        }
        configuration.http2ConnectionDebugInitializer = { [http2ConnectionDebugInitializer] channel in
            Self.run(http2ConnectionDebugInitializer, on: channel, after: gatekeeper.admitHTTP2(channel))
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

/// How a client's connections are judged. The defaults suit servers on the internet.
public struct ServerTrustEnforcement: Sendable {
    /// Anchors, requirements, revocation, cache, time and log of each evaluation. There is no stapled response on these connections.
    /// Refusals are logged at `warning`.
    public var configuration = TrustConfiguration()

    /// What TLS checks by itself during the handshake, before the manager is asked.
    public var handshakeVerification = HandshakeVerification.full()

    /// Authorities that servers may need between their certificate and an anchor. Only needed where the certificates that a server
    /// sends cannot be asked for: through a proxy, or without ``fetchesChains``.
    public var intermediates: [TrustCertificate] = []

    /// A Boolean value that indicates whether a second handshake asks a server for the certificates it sends, when its
    /// own certificate was not seen before. async-http-client shows only the server's own; without the others most
    /// chains cannot be built, and are refused. The second connection goes to the same address, asks for the same name,
    /// and ends before anything of HTTP is said.
    public var fetchesChains = true

    /// How long one connection may be judged, revocation and the second handshake included; over it, it is refused.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// A Boolean value that indicates whether connections without TLS are let through, of `http` URLs and of redirects
    /// to them. Nothing is judged on those.
    public var allowsPlainHTTP = false

    /// All at their defaults.
    public init() {}
}

/// What BoringSSL, the TLS library below async-http-client, checks by itself during the handshake.
public enum HandshakeVerification: Sendable {
    /// The chain up to the anchors, its times, and the host; then the manager is asked. A server must pass both.
    ///
    /// What BoringSSL refuses the manager never sees: the request fails with an error of NIOSSL, which has no reason of ours. So
    /// `DisabledTrustEvaluator`, and evaluators that ask for no valid chain or no host, are stricter here than they say.
    /// Pinned certificates that have signed themselves must stand in `alsoTrusting`; that alone makes no server trusted. BoringSSL refuses them
    /// there too if they are no authorities.
    case full(alsoTrusting: [TrustCertificate] = [])

    /// Nothing: the manager alone decides. Every evaluator means what it says, and every refusal has its reason.
    ///
    /// Then all depends on the two connection initializers that the configuration was given: whoever replaces them later trusts
    /// everybody. The key of the server's certificate is proven by the handshake all the same.
    case managerAlone
}

extension TLSConfiguration {
    /// TLS 1.2 at least, without key exchange by RSA unless suites were chosen, and what is checked during the handshake.
    func enforcing(_ enforcement: ServerTrustEnforcement, _ manager: ServerTrustManager) -> TLSConfiguration {
        var configuration = self
        configuration.minimumTLSVersion = minimumTLSVersion.atLeast12
        configuration.maximumTLSVersion = maximumTLSVersion?.atLeast12
        // Not where the suites were chosen: a key exchange with RSA keeps no secret from who learns the key later (RFC 9325, 4.1).
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

    /// One that BoringSSL cannot read makes no server trusted by it.
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
