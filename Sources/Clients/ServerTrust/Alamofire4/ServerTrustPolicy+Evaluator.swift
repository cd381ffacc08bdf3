extension ServerTrustPolicy {
    /// The same as an evaluator, which tells reasons and can wait for answers about revocation.
    public var evaluator: any ServerTrustEvaluating {
        switch self {
        case .performDefaultEvaluation(let validateHost):
            DefaultTrustEvaluator(validateHost: validateHost)
        case .performRevokedEvaluation(let validateHost, let revocationFlags):
            RevocationTrustEvaluator(validateHost: validateHost, options: revocationFlags)
        case .pinCertificates(let certificates, let validateCertificateChain, let validateHost):
            PinnedCertificatesTrustEvaluator(
                certificates: certificates,
                acceptSelfSignedCertificates: validateCertificateChain,
                validateCertificateChain: validateCertificateChain,
                validateHost: validateHost
            )
        case .pinPublicKeys(let publicKeys, let validateCertificateChain, let validateHost):
            PublicKeysTrustEvaluator(
                keys: publicKeys,
                validateCertificateChain: validateCertificateChain,
                validateHost: validateHost
            )
        case .disableEvaluation:
            DisabledTrustEvaluator()
        case .customEvaluation(let closure):
            ClosureTrustEvaluator(closure: closure)
        }
    }
}

/// Asks a closure.
struct ClosureTrustEvaluator: ServerTrustEvaluating {
    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !closure(trust, host) else { return }
        let reason = TrustFailure.custom("the custom evaluation refused it")
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}
