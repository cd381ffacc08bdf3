import Logging

/// An evaluator that requires that one of the pinned certificates is on the chain. If the list is empty, no server is
/// trusted.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let evaluator: PinEvaluator

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The pinned certificates, of servers, intermediates or roots.
    ///     ``ServerTrustPolicy/certificates(in:logger:)`` reads them from a directory.
    ///   - acceptSelfSignedCertificates: A Boolean value that indicates whether the pinned certificates are the only
    ///     anchors. Set it for servers with a self-signed certificate or a private root.
    ///   - performDefaultValidation: A Boolean value that indicates whether the chain must be valid. If true, a pin
    ///     counts only on the validated chain. If this and `validateHost` are false, a pin counts if it is linked to
    ///     the server's certificate by signatures, even if a certificate has expired.
    ///   - validateHost: A Boolean value that indicates whether the certificate must be for the host. As in Alamofire
    ///     5, this requires a valid chain even without `performDefaultValidation`.
    public init(
        certificates: [TrustCertificate],
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        evaluator = PinEvaluator(
            certificates: certificates,
            areAnchors: acceptSelfSignedCertificates,
            validateChain: performDefaultValidation || validateHost,
            validateHost: validateHost
        )
    }

    /// Builds the chain, and compares its certificates with the pinned ones.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try evaluator.evaluate(trust, forHost: host)
    }
}

/// An evaluator that requires that one of the pinned keys is on the chain. A certificate that is renewed with the same
/// key still matches. If the list is empty, no server is trusted.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let evaluator: PinEvaluator

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - keys: The pinned keys, of servers, intermediates or roots. ``ServerTrustPolicy/publicKeys(in:logger:)``
    ///     reads them from certificates in a directory.
    ///   - performDefaultValidation: A Boolean value that indicates whether the chain must be valid. If true, a key
    ///     counts only on the validated chain. If this and `validateHost` are false, a key counts if it is linked to
    ///     the server's certificate by signatures, even if a certificate has expired.
    ///   - validateHost: A Boolean value that indicates whether the certificate must be for the host. As in Alamofire
    ///     5, this requires a valid chain even without `performDefaultValidation`.
    public init(keys: [ServerPublicKey], performDefaultValidation: Bool = true, validateHost: Bool = true) {
        let validateChain = performDefaultValidation || validateHost
        evaluator = PinEvaluator(keys: keys, validateChain: validateChain, validateHost: validateHost)
    }

    /// Builds the chain, and compares its keys with the pinned ones.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try evaluator.evaluate(trust, forHost: host)
    }
}

/// An evaluator that requires that one of the pinned certificates or keys is on the chain. The host can be checked
/// without a valid chain, as in Alamofire 4.
struct PinEvaluator: ServerTrustEvaluating {
    private let hasPins: Bool
    private let pinsKeys: Bool
    /// The anchors of the chain; nil for those of the evaluation.
    private let anchors: TrustAnchors?
    private let validateChain: Bool
    private let validateHost: Bool
    private let isPinned: @Sendable (TrustCertificate) -> Bool

    init(certificates: [TrustCertificate], areAnchors: Bool, validateChain: Bool, validateHost: Bool) {
        (hasPins, pinsKeys) = (!certificates.isEmpty, false)
        anchors = areAnchors ? TrustAnchors(certificates) : nil
        (self.validateChain, self.validateHost) = (validateChain, validateHost)
        isPinned = { certificates.contains($0) }
    }

    init(keys: [ServerPublicKey], validateChain: Bool, validateHost: Bool) {
        (hasPins, pinsKeys) = (!keys.isEmpty, true)
        anchors = nil
        (self.validateChain, self.validateHost) = (validateChain, validateHost)
        isPinned = { keys.contains($0.publicKey) }
    }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard hasPins else { throw error(.noPins, host, trust.certificates) }
        var trust = trust
        trust.anchors = anchors ?? trust.anchors
        let chain = try trust.chainForPins(forHost: host, validateChain: validateChain, validateHost: validateHost)
        guard chain.contains(where: isPinned) else {
            throw error(.notPinned(subject: "\(trust.leaf)"), host, chain)
        }
    }

    private func error(_ reason: TrustFailure, _ host: String, _ chain: [TrustCertificate]) -> ServerTrustError {
        var error = ServerTrustError(reason: reason, host: host, chain: chain)
        error.pinsKeys = pinsKeys
        return error
    }
}

/// An evaluator that requires that one of the pins of a set is on the validated chain.
public struct PinSetTrustEvaluator: ServerTrustEvaluating {
    private let pins: PinSet
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - pins: The pins, and the handling of a mismatch.
    ///   - performDefaultValidation: A Boolean value that indicates whether the chain must be valid. If false, a pin
    ///     counts if it is linked to the server's certificate by signatures, and the pins are the only protection. A
    ///     set that has expired or only reports requires a valid chain even then.
    ///   - validateHost: A Boolean value that indicates whether the certificate must be for the host.
    public init(pins: PinSet, performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.pins = pins
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Builds the chain, and compares its keys with the pins.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let isEnforced = pins.isEnforced(at: trust.time)
        // A set that is not enforced must not make the evaluation weaker than it would be without pins.
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
        var error = ServerTrustError(reason: .pinMismatch(presented: presented), host: host, chain: chain)
        error.pinsKeys = true
        guard !isEnforced else { throw error }
        trust.logger.warning("\(error); trusted anyway, because the pins only report")
    }

    /// Logs a warning, once for each host, if every pin is on the chain. A pin on the chain is not a backup (RFC 7469,
    /// 2.5).
    private func warnWithoutBackup(_ trust: ServerTrust, _ presented: [PublicKeyPin], _ host: String) {
        guard pins.pins.count > 1, pins.pins.allSatisfy(presented.contains) else { return }
        guard WarnedHosts.lackOfBackup.insert(host) else { return }
        trust.logger.warning("all pins for \(host) are on its chain; add a backup pin for a key that is not in use")
    }
}
