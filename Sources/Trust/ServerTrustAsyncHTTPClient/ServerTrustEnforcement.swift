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
