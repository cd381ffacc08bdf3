import X509

/// Only version 3 has extensions (RFC 5280, 4.1.2.1): a certificate with others would be read differently by everybody.
struct VersionPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain where certificate.x509.version != .v3 && !certificate.x509.extensions.isEmpty {
            throw .extensionsInVersion1(subject: certificate.description)
        }
    }
}
