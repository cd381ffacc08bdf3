/// The evaluators of hosts, by the patterns of ``HostPattern``. The most specific pattern applies.
///
/// If a pattern is invalid, the manager trusts no server (``TrustFailure/invalidPattern(_:)``), because the host that
/// the pattern was meant for would have no evaluator. The same applies to two patterns for the same hosts
/// (``TrustFailure/equalPatterns(_:_:)``).
public final class ServerTrustManager: Sendable {
    /// A Boolean value that indicates whether a host without an evaluator is refused. If false,
    /// ``evaluate(_:forHost:)`` uses ``DefaultTrustEvaluator`` for it.
    public let allHostsMustBeEvaluated: Bool

    /// The evaluators by pattern, as passed to the initializer.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// The anchors of all evaluations. They replace the anchors of the ``ServerTrust``. If nil, those are used.
    public let anchors: TrustAnchors?

    /// Revocation lists of all evaluations, in addition to those of the ``ServerTrust``.
    public let revocationLists: [RevocationList]

    private let table: HostTable<any ServerTrustEvaluating>

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: A Boolean value that indicates whether a host without an evaluator is refused.
    ///   - evaluators: The evaluators by host pattern.
    ///   - anchors: The anchors of all evaluations; nil for those of the ``ServerTrust``.
    ///   - revocationLists: Revocation lists of all evaluations.
    ///   - lookup: A function that is called before the patterns are compared. It gets the host in the form of
    ///     ``ServerHost``: lower case, A-labels, no trailing dot. An invalid host is passed unchanged. If it returns
    ///     nil, `evaluators` applies. It replaces an override of `serverTrustEvaluator(forHost:)` in Alamofire, because
    ///     the compiler cannot verify that an open class is Sendable.
    public init(
        allHostsMustBeEvaluated: Bool = true,
        evaluators: [String: any ServerTrustEvaluating],
        anchors: TrustAnchors? = nil,
        revocationLists: [RevocationList] = [],
        lookup: (@Sendable (_ host: String) -> (any ServerTrustEvaluating)?)? = nil
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        self.anchors = anchors
        self.revocationLists = revocationLists
        table = HostTable(evaluators, lookup: lookup)
    }

    /// Returns the evaluator for a host; nil if the host has no evaluator and `allHostsMustBeEvaluated` is false.
    ///
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noEvaluator``, ``TrustFailure/invalidHost(_:)``,
    ///   ``TrustFailure/invalidPattern(_:)`` or ``TrustFailure/equalPatterns(_:_:)``.
    public func serverTrustEvaluator(
        forHost host: String
    ) throws(ServerTrustError) -> (any ServerTrustEvaluating)? {
        do {
            if let evaluator = try table.value(forHost: host) { return evaluator }
        } catch {
            throw ServerTrustError(reason: error, host: host)
        }
        guard !allHostsMustBeEvaluated else { throw ServerTrustError(reason: .noEvaluator, host: host) }
        return nil
    }

    /// Evaluates a server with the evaluator of the host. A host without an evaluator is evaluated by
    /// ``DefaultTrustEvaluator``, or refused if `allHostsMustBeEvaluated` is true. Returns immediately, without network
    /// access.
    ///
    /// - Throws: ``ServerTrustError`` if the server is not trusted.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let evaluator = try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()
        try evaluator.evaluate(prepared(trust), forHost: host)
    }

    /// Evaluates a server, and may wait for network requests. Clients call this method.
    ///
    /// - Throws: ``ServerTrustError`` if the server is not trusted; with ``TrustFailure/cancelled`` if the task is
    ///   cancelled.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let evaluator = try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()
        try await evaluator.evaluateOnline(prepared(trust), forHost: host)
        // A cancelled evaluator may have returned without completing its checks.
        guard !Task.isCancelled else {
            throw ServerTrustError(reason: .cancelled, host: host, chain: trust.certificates)
        }
    }

    private func prepared(_ trust: ServerTrust) -> ServerTrust {
        var trust = trust
        trust.anchors = anchors ?? trust.anchors
        trust.revocationLists += revocationLists
        return trust
    }
}
