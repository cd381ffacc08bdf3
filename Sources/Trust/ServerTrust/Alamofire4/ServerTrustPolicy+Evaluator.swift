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
