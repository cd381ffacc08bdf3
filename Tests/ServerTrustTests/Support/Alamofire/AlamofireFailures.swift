import ServerTrust
import TrustForge

/// The reasons that many rows have.
extension TrustFailure {
    /// The root was sent, and nobody trusts it.
    static let alamofireRootIsUntrusted = TrustFailure.untrustedRoot(subject: "Alamofire Root")

    static func hasExpired(_ certificate: Forged) -> TrustFailure {
        .expired(subject: "\(certificate.certificate)", notAfter: certificate.certificate.notAfter)
    }

    static func hasNoNames(_ certificate: Forged) -> TrustFailure {
        .noSubjectAlternativeName(subject: "\(certificate.certificate)")
    }

    static func lacksIssuer(_ certificate: Forged) -> TrustFailure {
        .unknownIssuer(
            subject: "\(certificate.certificate)",
            issuer: certificate.certificate.x509.issuer.description
        )
    }

    static func isNotPinned(_ certificate: Forged) -> TrustFailure {
        .notPinned(subject: "\(certificate.certificate)")
    }
}
