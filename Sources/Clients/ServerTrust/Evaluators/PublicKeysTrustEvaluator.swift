/// One of the pinned keys is on the chain: a certificate renewed with the same key still is. An empty list trusts nobody.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [ServerPublicKey]
    private let validateCertificateChain: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - keys: Of servers, intermediates or roots; ``ServerTrustPolicy/publicKeys(in:logger:)`` reads them from certificates in a
    ///     directory.
    ///   - performDefaultValidation: Whether there must be a valid chain; a key counts if it is on that. Without it and
    ///     `validateHost` a key counts if signatures lead to it from the server's certificate, expired or not.
    ///   - validateHost: Whether the certificate must be for the host. As in Alamofire 5 that asks for a valid chain too, even
    ///     without `performDefaultValidation`.
    public init(keys: [ServerPublicKey], performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.init(
            keys: keys,
            validateCertificateChain: performDefaultValidation || validateHost,
            validateHost: validateHost
        )
    }

    /// As Alamofire 4 has it: the host may be looked at without a valid chain.
    init(keys: [ServerPublicKey], validateCertificateChain: Bool, validateHost: Bool) {
        self.keys = keys
        self.validateCertificateChain = validateCertificateChain
        self.validateHost = validateHost
    }

    /// A chain, then the keys.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !keys.isEmpty else { throw ServerTrustError(reason: .noPins, host: host, chain: trust.certificates) }
        let chain = try trust.chainForPins(
            forHost: host,
            validateChain: validateCertificateChain,
            validateHost: validateHost
        )
        guard chain.contains(where: { keys.contains($0.publicKey) }) else {
            throw ServerTrustError(reason: .notPinned(subject: "\(trust.leaf)"), host: host, chain: chain)
        }
    }
}
