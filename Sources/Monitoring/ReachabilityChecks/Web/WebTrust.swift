import LinuxSupport
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// The trust of web probes: a server must have a valid certificate for the host from a trusted authority, or comply with the user's policy
/// file. Revocation is checked offline.
struct WebTrust: Sendable {
    /// Returns the time since 1970.
    let now: @Sendable () -> Duration
    private let configuration: TrustConfiguration
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    /// - Parameters:
    ///   - anchors: The trust anchors. By default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`. They are read at the first
    ///     handshake.
    ///   - policy: The user's policy. If nil, a valid certificate is required.
    ///   - now: Returns the time since 1970.
    init(
        anchors: TrustAnchors = .systemNow(),
        policy: TrustPolicyFile? = nil,
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        self.now = now
        var configuration = TrustConfiguration()
        configuration.anchors = anchors
        configuration.now = { TrustTime(secondsSinceEpoch: now().components.seconds) }
        // The checker contacts no server, so only stapled responses and lists are used.
        if policy != nil { configuration.revocation = RevocationChecker() }
        self.configuration = configuration
        self.policy = policy
        manager = policy?.manager()
    }

    /// Returns the evaluator for one connection.
    func recorder(for purpose: WebRequest.Purpose) -> CertificateRecorder {
        // The user's policy does not apply to the captive portal API.
        guard purpose != .portalAPI, let policy, let manager else { return CertificateRecorder() }
        return CertificateRecorder(policy, manager)
    }

    /// Returns the TLS factory for one connection.
    func factory(
        _ recorder: CertificateRecorder,
        for purpose: WebRequest.Purpose
    ) throws(TLSSettingsError) -> ServerTrustHandlerFactory {
        let manager = ServerTrustManager(evaluators: [:], lookup: { _ in recorder })
        return try (purpose == .handshake ? Self.plain : Self.web).get().with(manager, configuration)
    }

    /// The shared TLS contexts. Creating one costs more than a connection.
    private static let web = Self.shared(["http/1.1"])
    /// The context for servers of any protocol. A mail server may refuse a client that offers the protocol of web servers.
    private static let plain = Self.shared([])

    private static func shared(_ protocols: [String]) -> Result<ServerTrustHandlerFactory, TLSSettingsError> {
        var settings = TLSClientSettings()
        settings.applicationProtocols = protocols
        // Long-term secrecy is not needed, and ML-KEM makes the first message of each side one packet longer.
        settings.curves = [.x25519, .secp256r1, .secp384r1, .secp521r1]
        do throws(TLSSettingsError) {
            let manager = ServerTrustManager(evaluators: [:])
            return .success(try ServerTrustHandlerFactory(manager: manager, settings: settings))
        } catch {
            return .failure(error)
        }
    }
}

/// Evaluates a certificate with the policy file or the default evaluator, and records it. The issuer shows an interception.
final class CertificateRecorder: ServerTrustEvaluating {
    private let shown = Locked<TrustCertificate?>(nil)
    private let proven = Locked(false)
    private let policy: TrustPolicyFile?
    private let manager: ServerTrustManager?

    init(_ policy: TrustPolicyFile? = nil, _ manager: ServerTrustManager? = nil) {
        (self.policy, self.manager) = (policy, manager)
    }

    /// The server's certificate; nil if it showed none that can be parsed.
    var leaf: TrustCertificate? { shown.withLock { $0 } }

    /// Whether only the server itself can have shown the certificate. A policy that trusts all servers proves nothing.
    var isProof: Bool { proven.withLock { $0 } }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        shown.withLock { $0 = trust.leaf }
        try manager?.evaluate(trust, forHost: host)
        let usesDefaultTrust = manager == nil || isDisabled(forHost: host)
        do {
            if usesDefaultTrust { try DefaultTrustEvaluator().evaluate(trust, forHost: host) }
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
    /// - Parameters:
    ///   - handshake: The handshake; nil if it failed.
    ///   - now: The time since 1970.
    /// - Returns: Nil if the server showed no certificate.
    init?(_ recorder: CertificateRecorder, _ handshake: TrustedHandshake?, now: Duration) {
        guard let leaf = recorder.leaf else { return nil }
        let version: String? =
            switch handshake?.version {
            case .tlsv12: "1.2"
            case .tlsv13: "1.3"
            default: nil
            }
        self.init(
            isVerified: handshake != nil && recorder.isProof,
            issuer: leaf.issuerName,
            validUntil: .seconds(leaf.notAfter.secondsSinceEpoch),
            version: version,
            applicationProtocol: handshake?.applicationProtocol,
            daysLeft: Int(clamping: (leaf.notAfter.secondsSinceEpoch - now.components.seconds).floored(by: 86_400))
        )
    }
}
