public import ServerTrust

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

    /// Whether a second handshake asks a server for the certificates it sends, when its own certificate was not seen before.
    /// async-http-client shows only the server's own; without the others most chains cannot be built, and are refused. The second
    /// connection goes to the same address, asks for the same name, and ends before anything of HTTP is said.
    public var fetchesChains = true

    /// How long one connection may be judged, revocation and the second handshake included; over it, it is refused.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// Whether connections without TLS are let through, of `http` URLs and of redirects to them. Nothing is judged on those.
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
