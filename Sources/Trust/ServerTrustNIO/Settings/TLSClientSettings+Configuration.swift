package import NIOSSL

extension TLSClientSettings {
    /// The same for NIOSSL, which then checks neither chain nor host: whoever uses it must, in a callback.
    package func tlsConfiguration() throws(TLSSettingsError) -> TLSConfiguration {
        for name in applicationProtocols where !(1...255).contains(name.utf8.count) {
            throw .invalidApplicationProtocol(name)
        }
        guard evaluationTimeLimit > .zero else { throw .invalidTimeLimit(evaluationTimeLimit) }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        // A key exchange with RSA proves nothing before the end, and keeps no secret from who learns the key later (RFC 9325, 4.1).
        configuration.cipherSuites += ":!kRSA"
        configuration.certificateVerification = .noHostnameVerification
        // Else the machine's roots would be read and parsed a second time, for nobody.
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = applicationProtocols
        if let identity {
            configuration.certificateChain = identity.certificateChain.map { .certificate($0) }
            configuration.privateKey = .privateKey(identity.privateKey)
        }
        return configuration
    }
}
