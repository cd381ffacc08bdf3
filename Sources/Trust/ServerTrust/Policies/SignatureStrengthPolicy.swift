import X509

/// No signature is made with SHA-1 (RFC 9155; chosen-prefix collisions cost little since 2020). An anchor's own proves nothing and
/// is not looked at. MD5 and older are not even read.
struct SignatureStrengthPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain.dropLast() where certificate.x509.signatureAlgorithm == .sha1WithRSAEncryption {
            throw .weakSignature(subject: certificate.description, algorithm: "SHA-1 with RSA")
        }
    }
}
