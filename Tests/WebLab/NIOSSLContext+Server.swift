package import NIOSSL
package import TrustForge

extension NIOSSLContext {
    /// The TLS settings of a server with a forged chain.
    ///
    /// - Parameters:
    ///   - versions: The range of versions; 0 is TLS 1.0, and 3 is TLS 1.3.
    ///   - clientAnchors: The authorities of clients; if empty, no client certificate is requested.
    package static func server(
        _ chain: [Forged],
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> NIOSSLContext {
        try server(
            sent: chain.map(\.der),
            key: chain[0].key.forTLS(),
            versions: versions,
            protocols: protocols,
            clientAnchors: clientAnchors
        )
    }

    /// - Throws: An error of the TLS library if it cannot load a certificate.
    package static func server(
        sent: [[UInt8]],
        key: NIOSSLPrivateKey,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try sent.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
            privateKey: .privateKey(key)
        )
        let known: [TLSVersion] = [.tlsv1, .tlsv11, .tlsv12, .tlsv13]
        configuration.minimumTLSVersion = known[versions.lowerBound]
        configuration.maximumTLSVersion = known[versions.upperBound]
        configuration.applicationProtocols = protocols
        if !clientAnchors.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(
                try clientAnchors.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            )
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

extension ForgeKey {
    package func forTLS() throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem)
    }
}
