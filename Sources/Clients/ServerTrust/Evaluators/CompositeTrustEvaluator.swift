/// All of several evaluators, in order; the first that does not trust the server decides. None at all trusts nobody.
public struct CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// In the order in which they are asked.
    public init(evaluators: [any ServerTrustEvaluating]) {
        self.evaluators = evaluators
    }

    /// Asks each in turn.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Asks each in turn, and lets each wait.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try await evaluator.evaluateOnline(trust, forHost: host) }
    }

    private func requireSome(forHost host: String, _ trust: ServerTrust) throws(ServerTrustError) {
        guard evaluators.isEmpty else { return }
        throw ServerTrustError(reason: .noEvaluator, host: host, chain: trust.certificates)
    }
}
