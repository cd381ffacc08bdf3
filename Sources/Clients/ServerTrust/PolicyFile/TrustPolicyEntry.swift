/// One policy of a policy file.
public struct TrustPolicyEntry: Sendable {
    /// What stands at the key `policy`.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A valid chain, and the host (``DefaultTrustEvaluator``).
        case `default`
        /// That, and nothing revoked (``RevocationTrustEvaluator``).
        case revocation
        /// One of the certificates is on the chain (``PinnedCertificatesTrustEvaluator``).
        case certificates
        /// One of the keys is on the chain (``PublicKeysTrustEvaluator``).
        case publicKeys
        /// One of the pins is on the chain (``PinSetTrustEvaluator``).
        case pins
        /// Everybody is trusted (``DisabledTrustEvaluator``).
        case disabled
    }

    /// What it asks for.
    public let kind: Kind

    /// What decides.
    public let evaluator: any ServerTrustEvaluating

    /// What it asks for in words, for people: `one of the pins (2) is on the chain, until 2027-11-01T00:00:00Z`.
    public let summary: String
}
