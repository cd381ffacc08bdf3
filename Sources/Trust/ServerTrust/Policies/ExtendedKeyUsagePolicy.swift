import X509

/// Where a certificate says for which protocols it is, TLS servers are among them (extendedKeyUsage, RFC 5280, 4.2.1.12).
///
/// The server's own must name them: "any" is what OpenSSL and browsers do not take there either. An intermediate that names
/// others limits what is below it, "any" does not. Anchors are not asked.
struct ExtendedKeyUsagePolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, certificate) in chain.enumerated() where index == 0 || index < chain.count - 1 {
            guard let usages = try certificate.extendedKeyUsage() else { continue }
            guard usages.contains(.serverAuth) || index > 0 && usages.contains(.any) else {
                throw .extendedKeyUsage(subject: certificate.description)
            }
        }
    }
}
