/// Which evaluator is for which host, by the patterns of ``HostPattern``; the most specific decides.
///
/// A pattern that is none makes the manager trust nobody (``TrustFailure/invalidPattern(_:)``), for it was meant to protect a host
/// that now has no evaluator.
public final class ServerTrustManager: Sendable {
    /// Whether a host without an evaluator is refused. Otherwise it gets ``DefaultTrustEvaluator`` in ``evaluate(_:forHost:)``.
    public let allHostsMustBeEvaluated: Bool

    /// As they were given.
    public let evaluators: [String: any ServerTrustEvaluating]

    private let table: HostTable<any ServerTrustEvaluating>
    private let lookup: (@Sendable (String) -> (any ServerTrustEvaluating)?)?

    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a host without an evaluator is refused.
    ///   - evaluators: By patterns of hosts.
    ///   - lookup: Asked first, for what patterns cannot say; nil goes on with `evaluators`. It is what overriding
    ///     `serverTrustEvaluator(forHost:)` is in Alamofire, whose class can be inherited from but not checked to be Sendable.
    public init(
        allHostsMustBeEvaluated: Bool = true,
        evaluators: [String: any ServerTrustEvaluating],
        lookup: (@Sendable (_ host: String) -> (any ServerTrustEvaluating)?)? = nil
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        self.lookup = lookup
        table = HostTable(evaluators)
    }

    /// The evaluator for a host, nil if there is none and need not be one.
    ///
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noEvaluator``, ``TrustFailure/invalidHost(_:)`` or
    ///   ``TrustFailure/invalidPattern(_:)``.
    public func serverTrustEvaluator(
        forHost host: String
    ) throws(ServerTrustError) -> (any ServerTrustEvaluating)? {
        if let evaluator = lookup?(host) { return evaluator }
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
        try (try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()).evaluate(trust, forHost: host)
    }

    /// The same, but may wait and ask others: what clients call.
    ///
    /// - Throws: ``ServerTrustError`` if the server is not trusted.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let evaluator = try serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()
        try await evaluator.evaluateOnline(trust, forHost: host)
    }
}
