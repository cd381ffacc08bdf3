import X509

/// One certificate to learn about, and what is needed to judge the answers.
struct RevocationQuestion: Sendable {
    let certificate: TrustCertificate
    /// The next one on the validated chain.
    let issuer: TrustCertificate
    let time: TrustTime
    let allowsSHA1: Bool
    /// Only for the server's own certificate.
    let stapledResponse: [UInt8]?
    /// At hand, besides those of the checker.
    let lists: [RevocationList]

    /// One for each certificate but the anchor, which nobody is above of.
    static func all(about chain: ValidatedChain, in trust: ServerTrust) -> [RevocationQuestion] {
        zip(chain.certificates, chain.certificates.dropFirst()).enumerated().map { index, link in
            RevocationQuestion(
                certificate: link.0,
                issuer: link.1,
                time: trust.time,
                allowsSHA1: trust.requirements.allowsSHA1,
                stapledResponse: index == 0 ? trust.stapledOCSPResponse : nil,
                lists: trust.revocationLists
            )
        }
    }
}
