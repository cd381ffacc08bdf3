extension ServerTrust {
    /// The certificates on which a pin counts: the validated chain, or without validation what signatures prove.
    func chainForPins(
        forHost host: String,
        validateChain: Bool,
        validateHost: Bool
    ) throws(ServerTrustError) -> [TrustCertificate] {
        if validateChain { return try validatedChain(forHost: host, validateHost: validateHost).certificates }
        if validateHost { try validate(host: host) }
        do {
            return try LinkedChain.certificates(of: self, budget: EvaluationBudget(requirements))
        } catch {
            throw ServerTrustError(reason: error, host: host, chain: certificates)
        }
    }
}
