import LinuxPrimitives
import NIOSSL
package import ServerTrust
import ServerTrustNIO

/// Which servers web probes trust: those with a valid certificate for the host, of an authority that this machine trusts. Nobody is
/// asked about revocation.
package struct WebTrust: Sendable {
    /// Since the beginning of 1970.
    let now: @Sendable () -> Duration
    private let configuration: TrustConfiguration

    /// - Parameters:
    ///   - anchors: by default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, read anew by the first handshake that needs
    ///     them: one value for each run of a check.
    ///   - now: the time that counts, since the beginning of 1970.
    package init(
        anchors: TrustAnchors = .systemNow(),
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        self.now = now
        var configuration = TrustConfiguration()
        configuration.anchors = anchors
        configuration.now = { TrustTime(secondsSinceEpoch: now().components.seconds) }
        self.configuration = configuration
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

/// Judges as clients should at least, and remembers what it was shown: whoever stands in between is known by the issuer.
final class CertificateWitness: ServerTrustEvaluating {
    private let shown = Locked<TrustCertificate?>(nil)

    /// The server's own certificate; nil as long as it has shown none that can be read.
    var leaf: TrustCertificate? { shown.withLock { $0 } }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        shown.withLock { $0 = trust.leaf }
        try DefaultTrustEvaluator().evaluate(trust, forHost: host)
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
            isVerified: handshake != nil,
            issuer: leaf.issuerName,
            version: version,
            applicationProtocol: handshake?.applicationProtocol
        )
    }
}
