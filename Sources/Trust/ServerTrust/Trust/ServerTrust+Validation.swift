extension ServerTrust {
    /// Builds a chain from the server's certificate to an anchor and judges it by every policy: encoding, times, versions, critical
    /// extensions, who is an authority, usages of keys, strength of keys and signatures, constraints on names and, unless told
    /// otherwise, whose certificate it is.
    ///
    /// - Parameters:
    ///   - host: The host name or address the connection was meant for.
    ///   - validateHost: Whether the certificate must be for that host.
    /// - Throws: ``ServerTrustError``.
    public func validatedChain(
        forHost host: String,
        validateHost: Bool = true
    ) throws(ServerTrustError) -> ValidatedChain {
        try validatedChain(forHost: host, validateHost: validateHost, budget: EvaluationBudget(requirements))
    }

    func validatedChain(
        forHost host: String,
        validateHost: Bool = true,
        budget: EvaluationBudget
    ) throws(ServerTrustError) -> ValidatedChain {
        if let chain = cache?.chain(for: self) {
            if validateHost { try validate(host: host, on: chain.certificates) }
            return chain
        }
        let chain: ValidatedChain
        do {
            var builder = ChainBuilder(self, policies: Self.policies(requirements, budget), budget: budget)
            chain = try builder.build(from: leaf)
        } catch {
            throw ServerTrustError(reason: error.failure, host: host, chain: error.chain)
        }
        cache?.insert(chain, for: self)
        if validateHost { try validate(host: host, on: chain.certificates) }
        return chain
    }

    /// Whether the server's certificate is for a host, and nothing else.
    ///
    /// - Throws: ``ServerTrustError``.
    public func validate(host: String) throws(ServerTrustError) {
        try validate(host: host, on: certificates)
    }

    private func validate(host: String, on chain: [TrustCertificate]) throws(ServerTrustError) {
        do {
            try HostPolicy(host: try ServerHost(host)).check(chain, at: time)
        } catch {
            throw ServerTrustError(reason: error, host: host, chain: chain)
        }
    }

    /// What every chain must pass, in the order in which failures are told.
    static func policies(_ requirements: TrustRequirements, _ budget: EvaluationBudget) -> [any TrustPolicy] {
        var policies: [any TrustPolicy] = [
            EncodingPolicy(), ValidityPolicy(), VersionPolicy(), CriticalExtensionPolicy(), AuthorityPolicy(),
            KeyUsagePolicy(),
            KeyStrengthPolicy(minimumRSABits: requirements.minimumRSABits),
            NameConstraintsPolicy(budget: budget),
        ]
        if requirements.requiresServerAuthentication { policies.append(ExtendedKeyUsagePolicy()) }
        if !requirements.allowsSHA1 { policies.append(SignatureStrengthPolicy()) }
        return policies
    }
}
