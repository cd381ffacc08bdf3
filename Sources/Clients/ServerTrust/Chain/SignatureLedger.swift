import X509

/// Which signatures have been checked in one search: each is checked once.
struct SignatureLedger {
    private struct Question: Hashable {
        let certificate: TrustCertificate
        let issuer: TrustCertificate
    }

    private var answers: [Question: Bool] = [:]
    private let budget: EvaluationBudget

    init(_ budget: EvaluationBudget) {
        self.budget = budget
    }

    /// Whether the issuer's key has made the certificate's signature. Throws when no more may be done.
    mutating func isSigned(
        _ certificate: TrustCertificate,
        by issuer: TrustCertificate
    ) throws(TrustFailure) -> Bool {
        let question = Question(certificate: certificate, issuer: issuer)
        if let answer = answers[question] { return answer }
        try budget.spendSignature()
        let answer = certificate.isSigned(by: issuer)
        answers[question] = answer
        return answer
    }
}
