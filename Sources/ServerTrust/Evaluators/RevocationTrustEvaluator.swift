/// A valid chain, the right host, and no certificate of it revoked, as ``ServerTrust/revocation`` tells; without that, as the stapled
/// response tells.
///
/// ``evaluate(_:forHost:)`` answers at once, so it only knows the stapled response, lists that were given and what is remembered from
/// before. ``evaluateOnline(_:forHost:)`` asks. Who calls the first without
/// ``RevocationFlags/requirePositiveResponse`` trusts revoked certificates that nobody has asked about.
public struct RevocationTrustEvaluator: ServerTrustEvaluating {
    /// The name in Alamofire.
    public typealias Options = RevocationFlags

    private let validateHost: Bool
    private let options: Options

    /// - Parameters:
    ///   - performDefaultValidation: For the likeness to Alamofire. Revocation is a question about a valid chain, so the chain is
    ///     validated either way.
    ///   - validateHost: Whether the certificate must be for the host.
    ///   - options: What may be asked, and whether an answer is required.
    public init(performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any) {
        self.validateHost = validateHost
        self.options = options
    }

    /// A chain, then what is known at once.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let chain = try trust.validatedChain(forHost: host, validateHost: validateHost)
        let checker = trust.revocation ?? RevocationChecker.offline
        try judge(checker.knownStatus(of: chain, in: trust, flags: options), of: chain, forHost: host)
    }

    /// A chain, then what can be asked.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let chain = try trust.validatedChain(forHost: host, validateHost: validateHost)
        let checker = trust.revocation ?? RevocationChecker.offline
        try judge(await checker.status(of: chain, in: trust, flags: options), of: chain, forHost: host)
    }

    private func judge(
        _ status: RevocationStatus,
        of chain: ValidatedChain,
        forHost host: String
    ) throws(ServerTrustError) {
        let reason: TrustFailure
        switch status {
        case .good:
            return
        case .revoked(let certificate, let detail):
            reason = .revoked(subject: certificate.description, detail: detail)
        case .unknown(let certificate, let detail):
            guard options.contains(.requirePositiveResponse) else { return }
            reason = .revocationUnknown(subject: certificate.description, detail: detail)
        }
        throw ServerTrustError(reason: reason, host: host, chain: chain.certificates)
    }
}
