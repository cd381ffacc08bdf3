import X509

/// How far signatures lead from the server's certificate, without times or names.
///
/// For pinning without validation. TLS proves that the peer holds the key of its own certificate, and of none other it sends: anybody
/// can send along the pinned certificate of somebody else. So only what has signed the server's certificate counts, link by link,
/// and only authorities. Anchors that were not sent count too if they have signed, as on other systems.
enum LinkedChain {
    /// The server's certificate first, then those nearest to it. More than one chain where authorities are cross-signed: what has signed
    /// has signed, by whichever way.
    static func certificates(of trust: ServerTrust, budget: EvaluationBudget) throws(TrustFailure) -> [TrustCertificate]
    {
        guard let leaf = trust.certificates.first else { return [] }
        let anchors = trust.anchors.index
        let constraints = AuthorityPolicy()
        var signatures = SignatureLedger(budget)
        // Each certificate once, with the way it was first found by, so that a maze of authorities ends.
        var ways = [[leaf]]
        var found: Set = [leaf]
        var next = 0
        while next < ways.count {
            let way = ways[next]
            next += 1
            guard way.count < trust.requirements.maximumChainLength else { continue }
            let tip = way[way.count - 1]
            let sent = trust.certificates.filter { $0.x509.subject == tip.x509.issuer && $0.isAuthority }
            for issuer in sent + anchors.issuers(of: tip) where !found.contains(issuer) {
                try budget.spendStep()
                guard (try? constraints.check(way + [issuer], at: trust.time)) != nil,
                    try signatures.isSigned(tip, by: issuer)
                else { continue }
                found.insert(issuer)
                ways.append(way + [issuer])
            }
        }
        return ways.map { $0[$0.count - 1] }
    }
}
