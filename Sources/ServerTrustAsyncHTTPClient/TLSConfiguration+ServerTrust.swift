import NIOSSL
import ServerTrust

extension TLSConfiguration {
    /// TLS 1.2 at least, and what is checked during the handshake.
    func enforcing(_ enforcement: ServerTrustEnforcement) -> TLSConfiguration {
        var configuration = self
        configuration.minimumTLSVersion = minimumTLSVersion.atLeast12
        configuration.maximumTLSVersion = maximumTLSVersion?.atLeast12
        switch enforcement.handshakeVerification {
        case .full(let others):
            configuration.certificateVerification = .fullVerification
            configuration.trustRoots = .certificates(Self.roots(enforcement.anchors.certificates + others))
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
