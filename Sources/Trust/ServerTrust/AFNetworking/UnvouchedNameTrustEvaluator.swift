/// Trusts nobody: without pins and without a valid chain a name is what anybody has written into a certificate.
struct UnvouchedNameTrustEvaluator: ServerTrustEvaluating {
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let reason = TrustFailure.custom(
            "a domain name can only be validated with a valid chain or with pins: pin the certificate"
        )
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}
