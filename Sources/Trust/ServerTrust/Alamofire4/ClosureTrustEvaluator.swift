/// Asks a closure.
struct ClosureTrustEvaluator: ServerTrustEvaluating {
    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !closure(trust, host) else { return }
        let reason = TrustFailure.custom("the custom evaluation refused it")
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}
