import NIOSSL
import ServerTrust

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
