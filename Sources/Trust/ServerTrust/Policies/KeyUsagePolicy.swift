import X509

/// Where a certificate says what its key is for, it is for that (keyUsage, RFC 5280, 4.2.1.3): an authority's for signing
/// certificates, a server's for one of the three ways in which TLS uses keys.
struct KeyUsagePolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, certificate) in chain.enumerated() {
            guard let usage = try certificate.keyUsage() else { continue }
            if index > 0 {
                guard usage.keyCertSign else {
                    throw .keyUsage(subject: certificate.description, needed: "signing certificates")
                }
            } else if chain.count > 1 || !certificate.isAuthority {
                guard usage.digitalSignature || usage.keyEncipherment || usage.keyAgreement else {
                    throw .keyUsage(subject: certificate.description, needed: "TLS")
                }
            }
        }
    }
}
