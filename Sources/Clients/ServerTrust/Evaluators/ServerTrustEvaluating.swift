import LinuxSupport
import Logging

/// An evaluator that decides whether a server is trusted. The protocol of Alamofire 5, with typed errors.
///
/// Evaluators are values or immutable objects. They can be called on any thread at any time.
public protocol ServerTrustEvaluating: Sendable {
    /// Evaluates a server without waiting and without network access. Returns if the server is trusted.
    ///
    /// - Parameters:
    ///   - trust: The server's certificates, and the time of the evaluation.
    ///   - host: The host name or address of the connection.
    /// - Throws: ``ServerTrustError`` if the server is not trusted. Custom evaluators use ``TrustFailure/custom(_:)``
    ///   as the reason.
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError)

    /// Evaluates a server, and may wait for network requests about revocation. Clients call this method. The default
    /// implementation calls ``evaluate(_:forHost:)``.
    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError)
}

extension ServerTrustEvaluating {
    /// Calls ``evaluate(_:forHost:)``, without network access.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try evaluate(trust, forHost: host)
    }
}

/// An evaluator that requires a valid chain to an anchor, and a certificate for the host. This is the minimum that a
/// client should check.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameter validateHost: A Boolean value that indicates whether the certificate must be for the host. If false,
    ///   a server with a valid certificate for any host is trusted.
    public init(validateHost: Bool = true) {
        self.validateHost = validateHost
    }

    /// Builds a valid chain, and checks the host.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        _ = try trust.validatedChain(forHost: host, validateHost: validateHost)
    }
}

/// An evaluator that trusts **every server**, so that an attacker on the path can read and change all data. Use it only
/// for your own test machines. Pinning the certificate of a test machine (``PinnedCertificatesTrustEvaluator`` with
/// `acceptSelfSignedCertificates`) is as easy, and safe.
///
/// The log has one warning for each host.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Creates an evaluator that checks nothing.
    public init() {}

    /// Returns without a check. Logs a warning, once for each host.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard WarnedHosts.disabled.insert(host) else { return }
        trust.logger.warning("server trust is disabled for \(host): any server can impersonate it")
    }
}

/// The hosts that a warning was logged for in this process. Their number is limited, because host names are external
/// input.
struct WarnedHosts: Sendable {
    static let disabled = WarnedHosts()
    static let lackOfBackup = WarnedHosts()

    private let hosts = Locked(LRUCache<String, Bool>(capacity: 4096))

    /// Returns false if the host is already in the set.
    func insert(_ host: String) -> Bool {
        hosts.withLock { hosts in
            defer { hosts[host] = true }
            return hosts[host] == nil
        }
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// An evaluator that requires a valid chain, a certificate for the host, and no revoked certificate. Any
    /// source of the revocation status is permitted.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// Returns an evaluator, as ``RevocationTrustEvaluator/init(performDefaultValidation:validateHost:options:)``.
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
    /// Returns an evaluator, as
    /// ``PinnedCertificatesTrustEvaluator/init(certificates:acceptSelfSignedCertificates:performDefaultValidation:validateHost:)``.
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
    /// Returns an evaluator, as ``PublicKeysTrustEvaluator/init(keys:performDefaultValidation:validateHost:)``.
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
    /// Returns an evaluator, as ``CompositeTrustEvaluator/init(evaluators:)``.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}

/// An evaluator that requires that several evaluators trust the server. They run in sequence, and the first refusal
/// ends the evaluation. Without evaluators no server is trusted.
public struct CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator that calls these evaluators in sequence.
    public init(evaluators: [any ServerTrustEvaluating]) {
        self.evaluators = evaluators
    }

    /// Calls each evaluator in sequence, without network access.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Calls each evaluator in sequence. Each may wait for network requests.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        try requireSome(forHost: host, trust)
        for evaluator in evaluators { try await evaluator.evaluateOnline(trust, forHost: host) }
    }

    private func requireSome(forHost host: String, _ trust: ServerTrust) throws(ServerTrustError) {
        guard evaluators.isEmpty else { return }
        throw ServerTrustError(reason: .noEvaluator, host: host, chain: trust.certificates)
    }
}

/// An evaluator that requires a valid chain, a certificate for the host, and that no certificate of the chain is
/// revoked. The revocation status is from ``ServerTrust/revocation``. Without a checker, only the stapled response and
/// the given lists are used.
///
/// | Method | Sources |
/// |---|---|
/// | ``evaluate(_:forHost:)`` | the stapled response, given lists and cached results |
/// | ``evaluateOnline(_:forHost:)`` | the same, and responders and lists on the network |
///
/// Without ``RevocationFlags/requirePositiveResponse``, an unknown status is accepted. ``evaluate(_:forHost:)`` then
/// trusts a revoked certificate unless its status is already known.
///
/// Without a checker, a stapled response and lists, the status would always be unknown, so the server is refused with
/// any options (``TrustFailure/noRevocationChecker``). A certificate with must-staple (RFC 7633) requires a good
/// status, as with ``RevocationFlags/requirePositiveResponse``. The status may be from any source.
public struct RevocationTrustEvaluator: ServerTrustEvaluating {
    /// The name of the flags in Alamofire.
    public typealias Options = RevocationFlags

    private let validateHost: Bool
    private let options: Options

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: Has no effect. It exists for compatibility with Alamofire. The chain is always
    ///     validated, because revocation is defined only for a valid chain.
    ///   - validateHost: A Boolean value that indicates whether the certificate must be for the host.
    ///   - options: The permitted sources, and whether a good status is required.
    public init(performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any) {
        self.validateHost = validateHost
        self.options = options
    }

    /// Builds a valid chain, and checks its revocation without network access.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let chain = try trust.validatedChain(forHost: host, validateHost: validateHost)
        let (checker, options) = (try checker(trust, host), options(trust))
        try check(checker.knownStatus(of: chain, in: trust, flags: options), options, of: chain, forHost: host)
    }

    /// Builds a valid chain, and checks its revocation. May query responders and lists on the network.
    public func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        let chain = try trust.validatedChain(forHost: host, validateHost: validateHost)
        let (checker, options) = (try checker(trust, host), options(trust))
        let status = await checker.status(of: chain, in: trust, flags: options)
        try check(status, options, of: chain, forHost: host)
        // A cancelled task has not completed its queries, so an unknown status has no meaning.
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

    private func check(
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
