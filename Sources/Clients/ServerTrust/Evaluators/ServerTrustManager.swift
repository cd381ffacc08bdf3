/// Which evaluator is for which host, by the patterns of ``HostPattern``; the most specific decides.
///
/// A pattern that is none makes the manager trust nobody (``TrustFailure/invalidPattern(_:)``), for it was meant to protect a host
/// that now has no evaluator. So do two patterns for the same hosts (``TrustFailure/equalPatterns(_:_:)``).
public final class ServerTrustManager: Sendable {
    /// Whether a host without an evaluator is refused. Otherwise it gets ``DefaultTrustEvaluator`` in ``evaluate(_:forHost:)``.
    public let allHostsMustBeEvaluated: Bool

    /// As they were given.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// Whom trust begins with, whatever the ``ServerTrust`` that is judged says; nil leaves it as it is.
    public let anchors: TrustAnchors?

    /// Revocation lists for each evaluation, besides those of the ``ServerTrust``.
    public let revocationLists: [RevocationList]

    private let table: HostTable<any ServerTrustEvaluating>
    private let lookup: (@Sendable (String) -> (any ServerTrustEvaluating)?)?

    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a host without an evaluator is refused.
    ///   - evaluators: By patterns of hosts.
    ///   - anchors: Whom trust begins with; nil for those of the ``ServerTrust`` that is judged.
    ///   - revocationLists: For each evaluation.
    ///   - lookup: Asked first, for what patterns cannot say, with the host as ``ServerHost`` writes it (lower case, A-labels, no dot
    ///     at the end; a text that is no host comes as it is); nil goes on with `evaluators`. It is what overriding
    ///     `serverTrustEvaluator(forHost:)` is in Alamofire, whose class can be inherited from but not checked to be Sendable.
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
        self.lookup = lookup
        table = HostTable(evaluators)
    }

    /// The evaluator for a host, nil if there is none and need not be one.
    ///
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noEvaluator``, ``TrustFailure/invalidHost(_:)``,
    ///   ``TrustFailure/invalidPattern(_:)`` or ``TrustFailure/equalPatterns(_:_:)``.
    public func serverTrustEvaluator(
        forHost host: String
    ) throws(ServerTrustError) -> (any ServerTrustEvaluating)? {
        if let evaluator = lookup?(ServerHost.canonical(host)) { return evaluator }
        do {
            if let evaluator = try table.value(forHost: host) { return evaluator }
        } catch {
            throw ServerTrustError(reason: error, host: host)
        }
        guard !allHostsMustBeEvaluated else { throw ServerTrustError(reason: .noEvaluator, host: host) }
        return nil
    }

    /// Looks up the evaluator and asks it, or ``DefaultTrustEvaluator`` where there is none.
    ///
    /// - Throws: ``ServerTrustError`` if the server is not trusted.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try (try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()).evaluate(
            prepared(trust),
            forHost: host
        )
    }

    /// The same, but may wait and ask others: what clients call.
    ///
    /// - Throws: ``ServerTrustError`` if the server is not trusted; with ``TrustFailure/cancelled`` if the task is cancelled.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let evaluator = try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()
        try await evaluator.evaluateOnline(prepared(trust), forHost: host)
        // An evaluator that was cut short may have passed what it could not look into.
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
