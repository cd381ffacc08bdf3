/// The policy of AFNetworking, as a thin mapping to the evaluators.
///
/// | Mode | `allowInvalidCertificates` | Evaluated as |
/// |---|---|---|
/// | `none` | no | ``DefaultTrustEvaluator`` |
/// | `none` | yes | ``DisabledTrustEvaluator``; with `validatesDomainName` nobody is trusted, for a name nobody vouches for says nothing |
/// | `publicKey` | no | ``PublicKeysTrustEvaluator`` |
/// | `publicKey` | yes | the same without validation of the chain |
/// | `certificate` | no | a valid chain to the system's anchors, then as with yes |
/// | `certificate` | yes | ``PinnedCertificatesTrustEvaluator`` with the pinned certificates as the only anchors |
public struct AFSecurityPolicy: Sendable {
    /// What is pinned.
    public var sslPinningMode: AFSSLPinningMode
    /// The pinned certificates, or those whose keys are.
    public var pinnedCertificates: [TrustCertificate]
    /// Whether servers without a valid chain are trusted, if the pins say so.
    public var allowInvalidCertificates = false
    /// Whether the certificate must be for the host.
    public var validatesDomainName = true

    /// A policy that validates chains and domain names.
    public init(pinningMode: AFSSLPinningMode = .none, withPinnedCertificates certificates: [TrustCertificate] = []) {
        sslPinningMode = pinningMode
        pinnedCertificates = certificates
    }

    /// Whether a server is trusted. ``evaluator`` tells why not.
    public func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String) -> Bool {
        (try? evaluator.evaluate(serverTrust, forHost: domain)) != nil
    }

    /// The same as an evaluator.
    public var evaluator: any ServerTrustEvaluating {
        switch (sslPinningMode, allowInvalidCertificates) {
        case (.none, false):
            return DefaultTrustEvaluator(validateHost: validatesDomainName)
        case (.none, true):
            if validatesDomainName { return CompositeTrustEvaluator(evaluators: []) }
            return DisabledTrustEvaluator()
        case (.publicKey, let allowsInvalid):
            return PublicKeysTrustEvaluator(
                keys: pinnedCertificates.map(\.publicKey),
                performDefaultValidation: !allowsInvalid,
                validateHost: validatesDomainName
            )
        case (.certificate, let allowsInvalid):
            let pinned = PinnedCertificatesTrustEvaluator(
                certificates: pinnedCertificates,
                acceptSelfSignedCertificates: true,
                validateHost: validatesDomainName
            )
            if allowsInvalid { return pinned }
            let valid = DefaultTrustEvaluator(validateHost: validatesDomainName)
            return CompositeTrustEvaluator(evaluators: [valid, pinned])
        }
    }
}
