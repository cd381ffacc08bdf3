import X509

extension TrustCertificate {
    func basicConstraints() throws(TrustFailure) -> BasicConstraints? {
        try read("basicConstraints") { try $0.basicConstraints }
    }

    func keyUsage() throws(TrustFailure) -> KeyUsage? {
        try read("keyUsage") { try $0.keyUsage }
    }

    func extendedKeyUsage() throws(TrustFailure) -> ExtendedKeyUsage? {
        try read("extendedKeyUsage") { try $0.extendedKeyUsage }
    }

    func readableAlternativeNames() throws(TrustFailure) -> [GeneralName] {
        guard let alternativeNames else {
            throw .unreadableExtension(subject: description, name: "subjectAltName")
        }
        return alternativeNames
    }

    /// Whether it may sign other certificates, as far as basicConstraints says.
    var isAuthority: Bool {
        guard case .isCertificateAuthority = try? basicConstraints() else { return false }
        return true
    }

    private func read<Value>(
        _ name: String,
        _ body: (Certificate.Extensions) throws -> Value?
    ) throws(TrustFailure) -> Value? {
        do {
            return try body(x509.extensions)
        } catch {
            throw .unreadableExtension(subject: description, name: name)
        }
    }
}
