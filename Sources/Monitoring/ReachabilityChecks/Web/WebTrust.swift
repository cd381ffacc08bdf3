import LinuxSupport
import NIOSSL
package import ServerTrust
import ServerTrustNIO

/// Which servers web probes trust: those with a valid certificate for the host, of an authority that this machine trusts, or whom the
/// user's policy file has. Nobody is asked about revocation.
package struct WebTrust: Sendable {
    /// Since the beginning of 1970.
    let now: @Sendable () -> Duration
    private let configuration: TrustConfiguration
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    /// - Parameters:
    ///   - anchors: by default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, read anew by the first handshake that needs
    ///     them: one value for each run of a check.
    ///   - policy: what the user asks of servers; nil for no more than a valid certificate.
    ///   - now: the time that counts, since the beginning of 1970.
    package init(
        anchors: TrustAnchors = .systemNow(),
        policy: TrustPolicyFile? = nil,
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        self.now = now
        var configuration = TrustConfiguration()
        configuration.anchors = anchors
        configuration.now = { TrustTime(secondsSinceEpoch: now().components.seconds) }
        // It sends nothing: only what a server staples, and lists, are known.
        if policy != nil { configuration.revocation = RevocationChecker() }
        self.configuration = configuration
        self.policy = policy
        manager = policy?.manager()
    }

    /// Who judges the server of one connection.
    func witness(for purpose: WebRequest.Purpose) -> CertificateWitness {
        // The network's own server is none that the user knew of.
        guard purpose != .portalAPI, let policy, let manager else { return CertificateWitness() }
        return CertificateWitness(policy, manager)
    }

    /// What gives one connection TLS.
    func factory(_ witness: CertificateWitness) throws(TLSSettingsError) -> ServerTrustHandlerFactory {
        let manager = ServerTrustManager(evaluators: [:], lookup: { _ in witness })
        return try Self.shared.get().with(manager, configuration)
    }

    /// The context of the TLS library costs more than a connection does.
    private static let shared = Result<ServerTrustHandlerFactory, TLSSettingsError> { () throws(TLSSettingsError) in
        var settings = TLSClientSettings()
        settings.applicationProtocols = ["http/1.1"]
        // Nothing is said that must stay secret for long, and with ML-KEM the first message of each side is a packet longer.
        settings.curves = [.x25519, .secp256r1, .secp384r1, .secp521r1]
        return try ServerTrustHandlerFactory(manager: ServerTrustManager(evaluators: [:]), settings: settings)
    }
}

/// Judges by the policy file, else as clients should at least, and remembers what it was shown: whoever stands in between is known by
/// the issuer.
final class CertificateWitness: ServerTrustEvaluating {
    private let shown = Locked<TrustCertificate?>(nil)
    private let proven = Locked(false)
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    init(_ policy: TrustPolicyFile? = nil, _ manager: ServerTrustManager? = nil) {
        (self.policy, self.manager) = (policy, manager)
    }

    /// The server's own certificate; nil as long as it has shown none that can be read.
    var leaf: TrustCertificate? { shown.withLock { $0 } }

    /// Whether nobody else can have shown it. A policy that trusts everybody lets everybody pass, and proves nothing.
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
    /// - Parameter handshake: nil if there was none.
    /// - Returns: nil where the server has shown no certificate.
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
