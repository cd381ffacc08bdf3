/// How strict the building of a chain is. The defaults suit servers on the internet; ask for less only of old devices of your own.
public struct TrustRequirements: Hashable, Sendable {
    /// The least bits of an RSA key anywhere on the chain (NIST SP 800-57: 2048 is 112 bits of strength). Less than
    /// 2048 makes no difference: such keys cannot be read here.
    public var minimumRSABits = 2048

    /// Whether signatures with SHA-1 count. Those of anchors are never looked at.
    public var allowsSHA1 = false

    /// Whether a certificate that says what it is for must say TLS servers (RFC 5280, 4.2.1.12).
    public var requiresServerAuthentication = true

    /// The most certificates of a chain, the server's and the anchor included.
    public var maximumChainLength = 10

    /// The most certificates a peer may send.
    public var maximumSentCertificates = 32

    /// The most certificates that are tried as the issuer of another until a chain is found: a peer that sends many authorities of one
    /// name could else keep this machine busy. Chains in use need a dozen.
    public var maximumPathSteps = 1000

    /// The most signatures that are checked, for the same reason. Chains in use need a handful.
    public var maximumSignatureChecks = 64

    /// The most comparisons of a name with a constraint, for the same reason: five hundred names below a hundred constraints.
    public var maximumNameComparisons = 50_000

    /// All at their defaults.
    public init() {}
}
