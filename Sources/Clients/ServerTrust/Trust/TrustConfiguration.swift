public import Logging

/// What the ``ServerTrust`` of each handshake begins with: one value for every client, and for the command.
///
/// The defaults suit clients of the internet, but for revocation: without ``revocation`` nobody is asked about it.
/// ``TrustPolicyFile/configuration`` makes one of a policy file.
public struct TrustConfiguration: Sendable {
    /// Whom trust begins with; a manager with anchors of its own (``ServerTrustManager/anchors``) decides otherwise.
    public var anchors: TrustAnchors = .system

    /// How strict the building of a chain is, and how much work it may be.
    public var requirements = TrustRequirements()

    /// Revocation lists at hand, besides those of the checker and of the manager.
    public var revocationLists: [RevocationList] = []

    /// Who knows about revocation, for evaluators that ask; share one among all handshakes.
    public var revocation: (any RevocationChecking)?

    /// Chains that were found valid before; nil remembers none.
    public var cache: ValidatedChainCache? = ValidatedChainCache()

    /// The time for which certificates are judged, asked for at each handshake, on any thread.
    public var now: @Sendable () -> TrustTime = { .now }

    /// Where evaluations that anybody should hear of are logged.
    public var logger = Logger(label: "ServerTrust")

    /// All at their defaults.
    public init() {}

    /// What a server has sent, ready to be judged.
    ///
    /// - Parameters:
    ///   - derEncodedChain: Each certificate in DER, the server's own first.
    ///   - host: Whom the connection is meant for.
    /// - Throws: ``ServerTrustError`` as ``ServerTrust/init(derEncodedChain:host:cache:)``.
    public func trust(derEncodedChain: [[UInt8]], host: String) throws(ServerTrustError) -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: derEncodedChain, host: host, cache: cache)
        trust.anchors = anchors
        trust.requirements = requirements
        trust.revocationLists = revocationLists
        trust.revocation = revocation
        trust.time = now()
        trust.logger = logger
        return trust
    }
}

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
