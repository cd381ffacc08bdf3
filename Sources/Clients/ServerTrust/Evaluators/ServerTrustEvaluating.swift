import LinuxSupport
import Logging

/// Decides whether a server is trusted. The protocol of Alamofire 5, with the errors typed.
///
/// Evaluators are values or immutable objects; any thread may call one at any time.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns if the server is trusted, at once: nothing is waited for and nobody is asked over the network.
    ///
    /// - Parameters:
    ///   - trust: What the server has shown, and the time that counts.
    ///   - host: The host name or address the connection was meant for.
    /// - Throws: ``ServerTrustError`` if it is not trusted. Own evaluators give ``TrustFailure/custom(_:)`` as the reason.
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError)

    /// The same, but may wait and ask others, for revocation. Clients call this one; without an own implementation it is
    /// ``evaluate(_:forHost:)``.
    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError)
}

extension ServerTrustEvaluating {
    /// Asks nobody.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try evaluate(trust, forHost: host)
    }
}

/// What every client should do at least: a valid chain to an anchor, and the right host.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// - Parameter validateHost: Whether the certificate must be for the host. Without, anybody with a certificate for
    ///   anything is trusted.
    public init(validateHost: Bool = true) {
        self.validateHost = validateHost
    }

    /// A chain, and the host.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        _ = try trust.validatedChain(forHost: host, validateHost: validateHost)
    }
}

/// Trusts **everybody**: whoever sits between reads and changes all that is sent. Only for a test machine of your own; pinning its
/// certificate (``PinnedCertificatesTrustEvaluator`` with `acceptSelfSignedCertificates`) is as easy, and safe.
///
/// It is loud: the log has a warning, once for each host.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Think twice.
    public init() {}

    /// Returns, and warns.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard WarnedHosts.disabled.insert(host) else { return }
        trust.logger.warning("server trust is disabled for \(host): anybody may be answering in its name")
    }
}

/// Hosts that have been warned of once in this process. Bounded, for the names come from outside: a flood of them begins anew.
struct WarnedHosts: Sendable {
    static let disabled = WarnedHosts()
    static let lackOfBackup = WarnedHosts()

    private static let limit = 4096
    private let hosts = Locked<Set<String>>([])

    /// False if the host was there already.
    func insert(_ host: String) -> Bool {
        hosts.withLock { hosts in
            if hosts.count >= Self.limit { hosts = [] }
            return hosts.insert(host).inserted
        }
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// With a valid chain, the host, and any source of revocation.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// ``RevocationTrustEvaluator/init(performDefaultValidation:validateHost:options:)``
    public static func revocationChecking(
        performDefaultValidation: Bool = true,
        validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost,
            options: options
        )
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// ``PinnedCertificatesTrustEvaluator/init(certificates:acceptSelfSignedCertificates:performDefaultValidation:validateHost:)``
    public static func pinnedCertificates(
        certificates: [TrustCertificate],
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates,
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// ``PublicKeysTrustEvaluator/init(keys:performDefaultValidation:validateHost:)``
    public static func publicKeys(
        keys: [ServerPublicKey],
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys,
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// ``CompositeTrustEvaluator/init(evaluators:)``
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}

/// All of several evaluators, in order; the first that does not trust the server decides. None at all trusts nobody.
public struct CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// In the order in which they are asked.
    public init(evaluators: [any ServerTrustEvaluating]) {
        self.evaluators = evaluators
    }

    /// Asks each in turn.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Asks each in turn, and lets each wait.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try await evaluator.evaluateOnline(trust, forHost: host) }
    }

    private func requireSome(forHost host: String, _ trust: ServerTrust) throws(ServerTrustError) {
        guard evaluators.isEmpty else { return }
        throw ServerTrustError(reason: .noEvaluator, host: host, chain: trust.certificates)
    }
}

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
