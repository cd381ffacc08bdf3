public import ServerTrust

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
