/// A valid chain, the right host, and no certificate of it revoked, as ``ServerTrust/revocation`` tells; without that, as the stapled
/// response tells.
///
/// ``evaluate(_:forHost:)`` answers at once, so it only knows the stapled response, lists that were given and what is remembered from
/// before. ``evaluateOnline(_:forHost:)`` asks. Who calls the first without
/// ``RevocationFlags/requirePositiveResponse`` trusts revoked certificates that nobody has asked about.
///
/// Without a checker, a stapled response and lists nothing could ever be known: then the server is refused, whatever the options say
/// (``TrustFailure/noRevocationChecker``). A certificate that promises a stapled response (must-staple, RFC 7633) needs an answer as with
/// ``RevocationFlags/requirePositiveResponse``, from wherever it comes.
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
        let (checker, options) = (try checker(trust, host), options(trust))
        try judge(checker.knownStatus(of: chain, in: trust, flags: options), options, of: chain, forHost: host)
    }

    /// A chain, then what can be asked.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let chain = try trust.validatedChain(forHost: host, validateHost: validateHost)
        let (checker, options) = (try checker(trust, host), options(trust))
        let status = await checker.status(of: chain, in: trust, flags: options)
        try judge(status, options, of: chain, forHost: host)
        // Who was cut short has not asked: that nothing is known then means nothing.
        guard !Task.isCancelled else {
            throw ServerTrustError(reason: .cancelled, host: host, chain: chain.certificates)
        }
    }

    private func checker(_ trust: ServerTrust, _ host: String) throws(ServerTrustError) -> any RevocationChecking {
        if let checker = trust.revocation { return checker }
        guard trust.stapledOCSPResponse != nil || !trust.revocationLists.isEmpty else {
            throw ServerTrustError(reason: .noRevocationChecker, host: host, chain: trust.certificates)
        }
        return RevocationChecker.offline
    }

    private func options(_ trust: ServerTrust) -> Options {
        trust.leaf.requiresStapledResponse ? options.union(.requirePositiveResponse) : options
    }

    private func judge(
        _ status: RevocationStatus,
        _ options: Options,
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
