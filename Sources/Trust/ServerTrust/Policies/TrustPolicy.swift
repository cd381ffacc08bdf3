/// One rule about a chain. Pure: the same chain at the same time is judged the same, whatever else there is.
///
/// What swift-certificates checks by itself (`RFC5280Policy`: version, times, basicConstraints, nameConstraints) gives its
/// reasons as texts, lets certificates of version 1 sign others, and leaves keyUsage, extendedKeyUsage and the strength of keys
/// and signatures alone. So all rules are here.
protocol TrustPolicy: Sendable {
    /// Throws what is wrong with the chain, if anything is. The server's certificate is first, the anchor last; one alone is an
    /// anchor and the server's certificate.
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure)
}
