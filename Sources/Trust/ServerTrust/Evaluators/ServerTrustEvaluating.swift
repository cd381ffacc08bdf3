/// Decides whether a server is trusted. The protocol of Alamofire 5, with the errors typed.
///
/// Evaluators are values or immutable objects; any thread may call one at any time.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns if the server is trusted, at once: nothing is waited for and nobody is asked over the network.
    ///
    /// - Parameters:
    ///   - trust: What the server has shown, and the time that counts.
    ///   - host: The host name or address the connection was meant for.
    /// - Throws: ``ServerTrustError`` if it is not trusted. Own evaluators give ``TrustFailure/custom(_:)`` as the reason.
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError)

    /// The same, but may wait and ask others, for revocation. Clients call this one; without an own implementation it is
    /// ``evaluate(_:forHost:)``.
    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError)
}

extension ServerTrustEvaluating {
    /// Asks nobody.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try evaluate(trust, forHost: host)
    }
}
