import X509

/// Who has signed a certificate of the chain is an authority, and has no more authorities below it than it allows
/// (basicConstraints, RFC 5280, 4.2.1.9 and 6.1.4 (k) to (m)).
///
/// Certificates of version 1 cannot say that they are authorities, so they are none, but for anchors: to be trusted is what makes
/// those what they are.
struct AuthorityPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        var authoritiesBelow = 0
        for (index, certificate) in chain.enumerated().dropFirst() {
            switch try certificate.basicConstraints() {
            case .isCertificateAuthority(let limit):
                if let limit, authoritiesBelow > limit {
                    throw .pathTooLong(subject: certificate.description, limit: limit)
                }
            case .notCertificateAuthority:
                throw .notCertificateAuthority(subject: certificate.description)
            case nil:
                guard index == chain.count - 1, certificate.x509.version == .v1 else {
                    throw .notCertificateAuthority(subject: certificate.description)
                }
            }
            if !certificate.isSelfIssued { authoritiesBelow += 1 }
        }
    }
}
