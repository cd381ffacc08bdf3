/// One of the pinned certificates is on the chain. An empty list trusts nobody.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [TrustCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let validateCertificateChain: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - certificates: Servers' own, intermediates or roots; ``ServerTrustPolicy/certificates(in:logger:)`` reads them from a directory.
    ///   - acceptSelfSignedCertificates: Whether the pinned certificates are the anchors, and the only ones: for servers with a
    ///     certificate, or a root, of their own.
    ///   - performDefaultValidation: Whether there must be a valid chain; a pin counts if it is on that. Without it and
    ///     `validateHost` a pin counts if signatures lead to it from the server's certificate, expired or not.
    ///   - validateHost: Whether the certificate must be for the host. As in Alamofire 5 that asks for a valid chain too, even
    ///     without `performDefaultValidation`.
    public init(
        certificates: [TrustCertificate],
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.init(
            certificates: certificates,
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            validateCertificateChain: performDefaultValidation || validateHost,
            validateHost: validateHost
        )
    }

    /// As Alamofire 4 has it: the host may be looked at without a valid chain.
    init(
        certificates: [TrustCertificate],
        acceptSelfSignedCertificates: Bool,
        validateCertificateChain: Bool,
        validateHost: Bool
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.validateCertificateChain = validateCertificateChain
        self.validateHost = validateHost
    }

    /// A chain, then the certificates.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !certificates.isEmpty else {
            throw ServerTrustError(reason: .noPins, host: host, chain: trust.certificates)
        }
        var trust = trust
        if acceptSelfSignedCertificates { trust.anchors = TrustAnchors(certificates) }
        let chain = try trust.chainForPins(
            forHost: host,
            validateChain: validateCertificateChain,
            validateHost: validateHost
        )
        guard chain.contains(where: certificates.contains) else {
            throw ServerTrustError(reason: .notPinned(subject: "\(trust.leaf)"), host: host, chain: chain)
        }
    }
}
