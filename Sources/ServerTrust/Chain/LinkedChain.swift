import X509

/// How far signatures lead from the server's certificate, without anchors, times or names.
///
/// For pinning without validation. TLS proves that the peer holds the key of its own certificate, and of none other it sends: anybody
/// can send along the pinned certificate of somebody else. So only what has signed the server's certificate counts, link by link,
/// and only authorities.
enum LinkedChain {
    static func certificates(of trust: ServerTrust) -> [TrustCertificate] {
        guard let leaf = trust.certificates.first else { return [] }
        var signatures = SignatureLedger(limit: trust.requirements.maximumSignatureChecks)
        let constraints = AuthorityPolicy()
        var chain = [leaf]
        while chain.count < trust.requirements.maximumChainLength {
            let tip = chain[chain.count - 1]
            let next = trust.certificates.first { issuer in
                issuer.x509.subject == tip.x509.issuer && !chain.contains(issuer) && issuer.isAuthority
                    && (try? constraints.check(chain + [issuer], at: trust.time)) != nil
                    && signatures.isSigned(tip, by: issuer) == true
            }
            guard let next else { return chain }
            chain.append(next)
        }
        return chain
    }
}
