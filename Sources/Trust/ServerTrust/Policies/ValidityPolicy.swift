/// Every certificate's time has begun and is not over, the anchor's too (RFC 5280, 6.1.3 (a) (2)).
struct ValidityPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            if time > certificate.notAfter {
                throw .expired(subject: certificate.description, notAfter: certificate.notAfter)
            }
            if time < certificate.notBefore {
                throw .notYetValid(subject: certificate.description, notBefore: certificate.notBefore)
            }
        }
    }
}
