import Logging

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
