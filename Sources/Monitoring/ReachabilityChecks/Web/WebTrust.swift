import LinuxSupport
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// The servers that web probes trust: those with a valid certificate for the host of a trusted authority, or those of the user's policy
/// file. No server is asked about revocation.
struct WebTrust: Sendable {
    /// Returns the time since the beginning of 1970.
    let now: @Sendable () -> Duration
    private let configuration: TrustConfiguration
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    /// - Parameters:
    ///   - anchors: The trust anchors: by default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, read by the first
    ///     handshake.
    ///   - policy: The user's policy; nil for a valid certificate alone.
    ///   - now: Returns the time since the beginning of 1970.
    init(
        anchors: TrustAnchors = .systemNow(),
        policy: TrustPolicyFile? = nil,
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        self.now = now
        var configuration = TrustConfiguration()
        configuration.anchors = anchors
        configuration.now = { TrustTime(secondsSinceEpoch: now().components.seconds) }
        // It sends nothing, so only stapled responses and lists count.
        if policy != nil { configuration.revocation = RevocationChecker() }
        self.configuration = configuration
        self.policy = policy
        manager = policy?.manager()
    }

    /// Returns the evaluator of one connection.
    func witness(for purpose: WebRequest.Purpose) -> CertificateWitness {
        // The policy is not about the captive portal API.
        guard purpose != .portalAPI, let policy, let manager else { return CertificateWitness() }
        return CertificateWitness(policy, manager)
    }

    /// Returns the source of TLS for one connection.
    func factory(_ witness: CertificateWitness) throws(TLSSettingsError) -> ServerTrustHandlerFactory {
        let manager = ServerTrustManager(evaluators: [:], lookup: { _ in witness })
        return try Self.shared.get().with(manager, configuration)
    }

    /// The context of the TLS library costs more than a connection does.
    private static let shared = Result<ServerTrustHandlerFactory, TLSSettingsError> { () throws(TLSSettingsError) in
        var settings = TLSClientSettings()
        settings.applicationProtocols = ["http/1.1"]
        // No content must stay secret for long, and ML-KEM makes the first message of each side a packet longer.
        settings.curves = [.x25519, .secp256r1, .secp384r1, .secp521r1]
        return try ServerTrustHandlerFactory(manager: ServerTrustManager(evaluators: [:]), settings: settings)
    }
}

/// Judges by the policy file, or by the default evaluator, and records the certificate. An interception shows in its issuer.
final class CertificateWitness: ServerTrustEvaluating {
    private let shown = Locked<TrustCertificate?>(nil)
    private let proven = Locked(false)
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    init(_ policy: TrustPolicyFile? = nil, _ manager: ServerTrustManager? = nil) {
        (self.policy, self.manager) = (policy, manager)
    }

    /// The server's certificate; nil if it has shown none that can be parsed.
    var leaf: TrustCertificate? { shown.withLock { $0 } }

    /// Whether only the server can have shown it. A policy that trusts all servers proves nothing.
    var isProof: Bool { proven.withLock { $0 } }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        shown.withLock { $0 = trust.leaf }
        try manager?.evaluate(trust, forHost: host)
        let isLax = manager == nil || isDisabled(forHost: host)
        do {
            if isLax { try DefaultTrustEvaluator().evaluate(trust, forHost: host) }
            proven.withLock { $0 = true }
        } catch {
            if manager == nil { throw error }
        }
    }

    private func isDisabled(forHost host: String) -> Bool {
        guard let pattern = try? policy?.pattern(forHost: host) else { return false }
        return policy?.policies[pattern]?.allSatisfy { $0.kind == .disabled } == true
    }
}

extension TLSFacts {
    /// - Parameter handshake: The handshake; nil if it failed.
    /// - Returns: Nil if the server has shown no certificate.
    init?(_ witness: CertificateWitness, _ handshake: TrustedHandshake?) {
        guard let leaf = witness.leaf else { return nil }
        let version: String? =
            switch handshake?.version {
            case .tlsv12: "1.2"
            case .tlsv13: "1.3"
            default: nil
            }
        self.init(
            isVerified: handshake != nil && witness.isProof,
            issuer: leaf.issuerName,
            version: version,
            applicationProtocol: handshake?.applicationProtocol
        )
    }
}
