import Logging

/// How a server is judged: the enumeration of Alamofire 4. Each case is one of the evaluators of Alamofire 5 (``evaluator``).
public enum ServerTrustPolicy: Sendable {
    /// A valid chain to an anchor; the host if `validateHost`.
    case performDefaultEvaluation(validateHost: Bool)

    /// That, and nothing revoked.
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: RevocationFlags)

    /// A pinned certificate is on the chain. With `validateCertificateChain` the pinned certificates are the only anchors, as in
    /// Alamofire 4; without, signatures must lead to one. No certificates: nobody is trusted.
    case pinCertificates(certificates: [TrustCertificate], validateCertificateChain: Bool, validateHost: Bool)

    /// A pinned key is on the chain, which must be valid with `validateCertificateChain`. No keys: nobody is trusted.
    case pinPublicKeys(publicKeys: [ServerPublicKey], validateCertificateChain: Bool, validateHost: Bool)

    /// Trusts **everybody**, and says so in the log once for each host: see ``DisabledTrustEvaluator``.
    case disableEvaluation

    /// Whatever the closure says; nothing else is checked.
    case customEvaluation(@Sendable (_ serverTrust: ServerTrust, _ host: String) -> Bool)

    /// Whether a server is trusted. ``evaluator`` tells why not.
    ///
    /// Answers at once; with `performRevokedEvaluation` only from what is at hand.
    public func evaluate(_ serverTrust: ServerTrust, forHost host: String) -> Bool {
        do {
            try evaluator.evaluate(serverTrust, forHost: host)
            return true
        } catch {
            serverTrust.logger.info("\(error)")
            return false
        }
    }
}
