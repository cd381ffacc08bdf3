import Logging

/// The policy of AFNetworking, as a thin mapping to the evaluators.
///
/// | Mode | `allowInvalidCertificates` | Evaluated as |
/// |---|---|---|
/// | `none` | no | ``DefaultTrustEvaluator`` |
/// | `none` | yes | ``DisabledTrustEvaluator``; with `validatesDomainName` nobody is trusted, for a name nobody vouches for says nothing |
/// | `publicKey` | no | ``PublicKeysTrustEvaluator`` |
/// | `publicKey` | yes | the same without validation of the chain; the domain name is looked at, which AFNetworking does not |
/// | `certificate` | no | a valid chain to the system's anchors, then as with yes |
/// | `certificate` | yes | ``PinnedCertificatesTrustEvaluator`` with the pinned certificates as the only anchors |
public struct AFSecurityPolicy: Hashable, Sendable {
    /// What is pinned.
    public var sslPinningMode: AFSSLPinningMode
    /// The pinned certificates, or those whose keys are.
    public var pinnedCertificates: [TrustCertificate]
    /// Whether servers without a valid chain are trusted, if the pins say so.
    public var allowInvalidCertificates = false
    /// Whether the certificate must be for the host.
    public var validatesDomainName = true

    /// A policy that validates chains and domain names. Nothing is pinned but what is given: there is no bundle whose certificates
    /// AFNetworking pins by itself.
    public init(pinningMode: AFSSLPinningMode = .none, withPinnedCertificates certificates: [TrustCertificate] = []) {
        sslPinningMode = pinningMode
        pinnedCertificates = certificates
    }

    /// The policy without pins that allows no invalid certificates and validates domain names.
    public static func `default`() -> AFSecurityPolicy { AFSecurityPolicy() }

    /// The certificates in a directory, as ``ServerTrustPolicy/certificates(in:logger:)`` reads them.
    public static func certificates(in directory: String) -> [TrustCertificate] {
        ServerTrustPolicy.certificates(in: directory)
    }

    /// Whether a server is trusted. ``evaluator`` tells why not, and so does the log at `info`.
    ///
    /// - Parameters:
    ///   - serverTrust: What the server has shown.
    ///   - domain: Whom the connection was meant for; nil if the name is not to be validated.
    public func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        var policy = self
        if domain == nil { policy.validatesDomainName = false }
        do {
            try policy.evaluator.evaluate(serverTrust, forHost: domain ?? serverTrust.host ?? "")
            return true
        } catch {
            serverTrust.logger.info("\(error)")
            return false
        }
    }

    /// The same as an evaluator.
    public var evaluator: any ServerTrustEvaluating {
        switch (sslPinningMode, allowInvalidCertificates) {
        case (.none, false):
            return DefaultTrustEvaluator(validateHost: validatesDomainName)
        case (.none, true):
            return validatesDomainName ? UnvouchedNameTrustEvaluator() : DisabledTrustEvaluator()
        case (.publicKey, let allowsInvalid):
            return PublicKeysTrustEvaluator(
                keys: pinnedCertificates.map(\.publicKey),
                validateCertificateChain: !allowsInvalid,
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

/// What is pinned, with the raw values of AFNetworking.
public enum AFSSLPinningMode: UInt, Hashable, Sendable {
    /// Nothing: the server is judged by the anchors alone.
    case none = 0
    /// The keys of the pinned certificates.
    case publicKey = 1
    /// The pinned certificates.
    case certificate = 2
}

/// Trusts nobody: without pins and without a valid chain a name is what anybody has written into a certificate.
struct UnvouchedNameTrustEvaluator: ServerTrustEvaluating {
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let reason = TrustFailure.custom(
            "a domain name can only be validated with a valid chain or with pins: pin the certificate"
        )
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}
