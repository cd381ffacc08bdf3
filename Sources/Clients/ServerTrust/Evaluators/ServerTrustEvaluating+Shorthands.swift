extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// With a valid chain, the host, and any source of revocation.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// ``RevocationTrustEvaluator/init(performDefaultValidation:validateHost:options:)``
    public static func revocationChecking(
        performDefaultValidation: Bool = true,
        validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost,
            options: options
        )
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// ``PinnedCertificatesTrustEvaluator/init(certificates:acceptSelfSignedCertificates:performDefaultValidation:validateHost:)``
    public static func pinnedCertificates(
        certificates: [TrustCertificate],
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates,
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// ``PublicKeysTrustEvaluator/init(keys:performDefaultValidation:validateHost:)``
    public static func publicKeys(
        keys: [ServerPublicKey],
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys,
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// ``CompositeTrustEvaluator/init(evaluators:)``
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}
