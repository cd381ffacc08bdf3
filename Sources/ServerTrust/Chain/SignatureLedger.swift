import X509

/// Which signatures have been checked in one search, and how many more may be.
struct SignatureLedger {
    private struct Question: Hashable {
        let certificate: TrustCertificate
        let issuer: TrustCertificate
    }

    private var answers: [Question: Bool] = [:]
    private var left: Int

    init(limit: Int) {
        left = limit
    }

    /// Whether the issuer's key has made the certificate's signature; nil when the limit is reached.
    mutating func isSigned(_ certificate: TrustCertificate, by issuer: TrustCertificate) -> Bool? {
        let question = Question(certificate: certificate, issuer: issuer)
        if let answer = answers[question] { return answer }
        guard left > 0 else { return nil }
        left -= 1
        let answer = issuer.x509.publicKey.isValidSignature(certificate.x509.signature, for: certificate.x509)
        answers[question] = answer
        return answer
    }
}
