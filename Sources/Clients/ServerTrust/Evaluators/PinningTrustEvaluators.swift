import Logging

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

/// One of the pins of a set is on the validated chain.
public struct PinSetTrustEvaluator: ServerTrustEvaluating {
    private let pins: PinSet
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - pins: What must be there, and what comes of it if it is not.
    ///   - performDefaultValidation: Whether there must be a valid chain, in a set that only reports too. Otherwise a pin counts if
    ///     signatures lead to it from the server's certificate; then nothing but the pin protects, and a set that only reports
    ///     protects nothing.
    ///   - validateHost: Whether the certificate must be for the host.
    public init(pins: PinSet, performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.pins = pins
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// A chain, then the pins.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let isEnforced = pins.isEnforced(at: trust.time)
        // A set that does not count any more leaves the rest as strict as it would be without pins.
        let chain = try trust.chainForPins(
            forHost: host,
            validateChain: performDefaultValidation || !isEnforced,
            validateHost: validateHost
        )
        let presented = chain.map(PublicKeyPin.init)
        guard !pins.pins.contains(where: presented.contains) else {
            warnWithoutBackup(trust, presented, host)
            return
        }
        pins.reporter?(
            PinReport(
                host: host,
                time: trust.time,
                expected: pins.pins,
                presented: presented,
                chain: chain,
                isEnforced: isEnforced
            )
        )
        let error = ServerTrustError(reason: .pinMismatch(presented: presented), host: host, chain: chain)
        guard !isEnforced else { throw error }
        trust.logger.warning("\(error); trusted all the same, for the pins only report")
    }

    /// RFC 7469, section 2.5: a pin that is on the chain is no backup.
    private func warnWithoutBackup(_ trust: ServerTrust, _ presented: [PublicKeyPin], _ host: String) {
        guard pins.pins.count > 1, pins.pins.allSatisfy(presented.contains) else { return }
        guard WarnedHosts.lackOfBackup.insert(host) else { return }
        trust.logger.warning("all pins for \(host) are on its chain: none is a backup for the day its key changes")
    }
}
