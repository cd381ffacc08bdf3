public import Logging
public import ServerTrust

/// What the ``ServerTrust/ServerTrust`` of each handshake begins with.
///
/// The defaults suit clients of the internet, but for revocation: without ``revocation`` nobody is asked about it.
public struct TrustTemplate: Sendable {
    /// Whom trust begins with.
    public var anchors: TrustAnchors = .system

    /// How strict the building of a chain is.
    public var requirements = TrustRequirements()

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
    /// - Throws: ``ServerTrust/ServerTrustError`` as ``ServerTrust/ServerTrust/init(derEncodedChain:host:cache:)``.
    public func trust(derEncodedChain: [[UInt8]], host: String) throws(ServerTrustError) -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: derEncodedChain, host: host, cache: cache)
        trust.anchors = anchors
        trust.requirements = requirements
        trust.revocation = revocation
        trust.time = now()
        trust.logger = logger
        return trust
    }
}
