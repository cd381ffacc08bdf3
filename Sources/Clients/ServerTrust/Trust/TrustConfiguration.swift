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
