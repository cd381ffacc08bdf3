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

/// A chain from a server's certificate to an anchor that has passed every policy.
public struct ValidatedChain: Hashable, Sendable {
    /// The server's certificate first, the anchor last. One alone if the server's certificate is itself an anchor.
    public let certificates: [TrustCertificate]

    /// From the latest beginning to the earliest end of its certificates: the time in which the verdict stands.
    public let validity: ClosedRange<TrustTime>

    /// The server's own.
    public var leaf: TrustCertificate { certificates[0] }

    /// What it ends in.
    public var anchor: TrustCertificate { certificates[certificates.count - 1] }

    /// Only what the policies have passed at `time` gets here, so that the range is never upside down.
    init(_ certificates: [TrustCertificate], at time: TrustTime) {
        self.certificates = certificates
        let start = certificates.map(\.notBefore).max() ?? time
        let end = certificates.map(\.notAfter).min() ?? time
        validity = min(start, time)...max(end, time)
    }
}

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
