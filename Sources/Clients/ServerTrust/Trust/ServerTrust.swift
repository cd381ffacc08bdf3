public import Logging

/// The input of an evaluation: the certificates of a server, the trust anchors and the time.
///
/// It corresponds to `SecTrust` on other systems. It is a value: an evaluation does not change it, and the same value
/// gives the same result. Create one for each handshake.
///
/// ```swift
/// let trust = try ServerTrust(derEncodedChain: chainFromThePeer, host: "example.org")
/// try DefaultTrustEvaluator().evaluate(trust, forHost: "example.org")
/// ```
public struct ServerTrust: Sendable {
    /// The certificates that the peer sent: its own first, then others in any order. There is always at least one. The
    /// handshake proves only that the peer has the key of the first.
    public let certificates: [TrustCertificate]

    /// The host of the connection, as the user specified it; nil if it is not known.
    public let host: String?

    /// The trust anchors.
    public var anchors: TrustAnchors = .system

    /// The time of the evaluation. The default is the time when the value was created.
    public var time: TrustTime = .now

    /// The requirements of chain building.
    public var requirements = TrustRequirements()

    /// The OCSP response that was stapled to the handshake (RFC 6066, 8), in DER; nil without a stapled response.
    public var stapledOCSPResponse: [UInt8]?

    /// Revocation lists, in addition to those of ``revocation``.
    public var revocationLists: [RevocationList] = []

    /// The revocation checker. If nil, only the stapled response and ``revocationLists`` are used.
    public var revocation: (any RevocationChecking)?

    /// The cache of validated chains; nil for none.
    public var cache: ValidatedChainCache?

    /// The log. Evaluations without protection are logged at `warning`: disabled ones, and pins that only report.
    public var logger = Self.log

    /// Created once, because each handshake has a `ServerTrust`.
    private static let log = Logger(label: "ServerTrust")

    /// The peer's own certificate.
    public var leaf: TrustCertificate { certificates[0] }

    /// Creates the input of an evaluation from parsed certificates, the peer's own first.
    ///
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noCertificates`` if `certificates` is empty.
    public init(certificates: [TrustCertificate], host: String? = nil) throws(ServerTrustError) {
        guard !certificates.isEmpty else { throw ServerTrustError(reason: .noCertificates, host: host ?? "") }
        self.certificates = certificates
        self.host = host
    }

    /// Creates the input of an evaluation from the certificates of a handshake. If the first certificate cannot be
    /// parsed, this is an error. Others that cannot be parsed are skipped, because the chain may not need them.
    ///
    /// - Parameters:
    ///   - derEncodedChain: The certificates in DER, the peer's own first.
    ///   - host: The host of the connection.
    ///   - cache: The cache of validated chains. It also caches parsed certificates, and becomes ``cache``.
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noCertificates``, ``TrustFailure/unreadableCertificate(_:)``,
    ///   ``TrustFailure/weakSignature(subject:algorithm:)``, ``TrustFailure/weakKey(subject:bits:)`` or
    ///   ``TrustFailure/tooComplex(_:)``.
    public init(
        derEncodedChain: [[UInt8]],
        host: String? = nil,
        cache: ValidatedChainCache? = nil
    ) throws(ServerTrustError) {
        let certificates: [TrustCertificate]
        do {
            if let cache {
                certificates = try cache.certificates(of: derEncodedChain)
            } else {
                certificates = try Self.read(derEncodedChain)
            }
        } catch {
            throw ServerTrustError(reason: error, host: host ?? "")
        }
        try self.init(certificates: certificates, host: host)
        self.cache = cache
    }

    static func read(_ derEncodedChain: [[UInt8]]) throws(TrustFailure) -> [TrustCertificate] {
        guard let first = derEncodedChain.first else { throw .noCertificates }
        let limit = TrustRequirements().maximumSentCertificates
        guard derEncodedChain.count <= limit else {
            throw .tooComplex("the server sent \(derEncodedChain.count) certificates, \(limit) are allowed")
        }
        do {
            return [try TrustCertificate(derEncoded: first)]
                + derEncodedChain.dropFirst().compactMap { try? TrustCertificate(derEncoded: $0) }
        } catch {
            let subject = "the server's certificate"
            switch error {
            case .brokenSignatureAlgorithm(let name): throw .weakSignature(subject: subject, algorithm: name)
            case .weakKey(let bits): throw .weakKey(subject: subject, bits: bits)
            case .unreadable, .file: throw .unreadableCertificate("\(error)")
            }
        }
    }
}

extension ServerTrust {
    /// Builds a chain from the server's certificate to an anchor, and verifies it: encoding, times, versions, critical
    /// extensions, authorities, key usages, strength of keys and signatures, name constraints and, if `validateHost` is
    /// true, the host.
    ///
    /// - Parameters:
    ///   - host: The host name or address of the connection.
    ///   - validateHost: A Boolean value that indicates whether the certificate must be for this host.
    /// - Throws: ``ServerTrustError`` if no chain is valid.
    public func validatedChain(
        forHost host: String,
        validateHost: Bool = true
    ) throws(ServerTrustError) -> ValidatedChain {
        try validatedChain(forHost: host, validateHost: validateHost, budget: EvaluationBudget(requirements))
    }

    func validatedChain(
        forHost host: String,
        validateHost: Bool = true,
        budget: EvaluationBudget
    ) throws(ServerTrustError) -> ValidatedChain {
        if let chain = cache?.chain(for: self) {
            if validateHost { try validate(host: host, on: chain.certificates) }
            return chain
        }
        let chain: ValidatedChain
        do {
            var builder = ChainBuilder(self, policies: Self.policies(requirements, budget), budget: budget)
            chain = try builder.build(from: leaf)
        } catch {
            throw ServerTrustError(reason: error.failure, host: host, chain: error.chain)
        }
        cache?.insert(chain, for: self)
        if validateHost { try validate(host: host, on: chain.certificates) }
        return chain
    }

    /// Verifies that the server's certificate is for a host. Nothing else is verified.
    ///
    /// - Throws: ``ServerTrustError`` if it is not.
    public func validate(host: String) throws(ServerTrustError) {
        try validate(host: host, on: certificates)
    }

    private func validate(host: String, on chain: [TrustCertificate]) throws(ServerTrustError) {
        do {
            try HostPolicy(host: try ServerHost(host)).check(chain, at: time)
        } catch {
            throw ServerTrustError(reason: error, host: host, chain: chain)
        }
    }

    /// Returns the policies for every chain, in the order in which failures are reported.
    static func policies(_ requirements: TrustRequirements, _ budget: EvaluationBudget) -> [any TrustPolicy] {
        var policies: [any TrustPolicy] = [
            EncodingPolicy(), ValidityPolicy(), VersionPolicy(), CriticalExtensionPolicy(), AuthorityPolicy(),
            KeyUsagePolicy(),
            KeyStrengthPolicy(minimumRSABits: requirements.minimumRSABits),
            NameConstraintsPolicy(budget: budget),
        ]
        if requirements.requiresServerAuthentication { policies.append(ExtendedKeyUsagePolicy()) }
        if !requirements.allowsSHA1 { policies.append(SignatureStrengthPolicy()) }
        return policies
    }
}

/// A chain from a server's certificate to an anchor that passed every policy.
public struct ValidatedChain: Hashable, Sendable {
    /// The certificates, the server's own first, the anchor last. If the server's certificate is an anchor, it is the
    /// only one.
    public let certificates: [TrustCertificate]

    /// The period in which all certificates of the chain are valid.
    public let validity: ClosedRange<TrustTime>

    /// The server's certificate.
    public var leaf: TrustCertificate { certificates[0] }

    /// The trust anchor.
    public var anchor: TrustCertificate { certificates[certificates.count - 1] }

    /// Creates a chain that the policies accepted at `time`, so the start of the period is not after its end.
    init(_ certificates: [TrustCertificate], at time: TrustTime) {
        self.certificates = certificates
        let start = certificates.map(\.notBefore).max() ?? time
        let end = certificates.map(\.notAfter).min() ?? time
        validity = min(start, time)...max(end, time)
    }
}

extension ServerTrust {
    /// Returns the certificates on which a pin counts: the validated chain or, without validation, the certificates
    /// that are linked by signatures.
    func chainForPins(
        forHost host: String,
        validateChain: Bool,
        validateHost: Bool
    ) throws(ServerTrustError) -> [TrustCertificate] {
        if validateChain { return try validatedChain(forHost: host, validateHost: validateHost).certificates }
        if validateHost { try validate(host: host) }
        do {
            return try LinkedChain.certificates(of: self, budget: EvaluationBudget(requirements))
        } catch {
            throw ServerTrustError(reason: error, host: host, chain: certificates)
        }
    }
}

/// The configuration of evaluations: the initial values of the ``ServerTrust`` of each handshake. All clients and the
/// command use this type.
///
/// The defaults suit clients on the internet, except for revocation: if ``revocation`` is nil, no revocation server is
/// queried. ``TrustPolicyFile/configuration`` creates a configuration from a policy file.
public struct TrustConfiguration: Sendable {
    /// The trust anchors. The anchors of a manager (``ServerTrustManager/anchors``) replace them.
    public var anchors: TrustAnchors = .system

    /// The requirements of chain building, and its limits.
    public var requirements = TrustRequirements()

    /// Revocation lists, in addition to those of the checker and of the manager.
    public var revocationLists: [RevocationList] = []

    /// The revocation checker for evaluators that need one. Share one among all handshakes.
    public var revocation: (any RevocationChecking)?

    /// The cache of validated chains; nil for none.
    public var cache: ValidatedChainCache? = ValidatedChainCache()

    /// A function that returns the time of an evaluation. It is called at each handshake, on any thread.
    public var now: @Sendable () -> TrustTime = { .now }

    /// The log for evaluations without protection, at `warning`.
    public var logger = Logger(label: "ServerTrust")

    /// Creates a configuration with the defaults.
    public init() {}

    /// Returns the input of an evaluation with this configuration.
    ///
    /// - Parameters:
    ///   - derEncodedChain: The certificates in DER, the server's own first.
    ///   - host: The host of the connection.
    /// - Throws: ``ServerTrustError`` as ``ServerTrust/init(derEncodedChain:host:cache:)``.
    public func trust(derEncodedChain: [[UInt8]], host: String) throws(ServerTrustError) -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: derEncodedChain, host: host, cache: cache)
        trust.anchors = anchors
        trust.requirements = requirements
        trust.revocationLists = revocationLists
        trust.revocation = revocation
        trust.time = now()
        trust.logger = logger
        return trust
    }
}

/// The requirements and limits of chain building. The defaults suit servers on the internet. Weaken them only for your
/// own old devices.
public struct TrustRequirements: Hashable, Sendable {
    /// The minimum length in bits of every RSA key of the chain (NIST SP 800-57: 2048 bits have a strength of 112
    /// bits). Values below 2048 have no effect, because shorter keys cannot be parsed.
    public var minimumRSABits = 2048

    /// A Boolean value that indicates whether signatures with SHA-1 are accepted. Signatures of anchors are never
    /// verified.
    public var allowsSHA1 = false

    /// A Boolean value that indicates whether an extendedKeyUsage extension, if present, must permit TLS servers (RFC
    /// 5280, 4.2.1.12).
    public var requiresServerAuthentication = true

    /// The maximum number of certificates of a chain, including the server's and the anchor.
    public var maximumChainLength = 10

    /// The maximum number of certificates that a peer may send.
    public var maximumSentCertificates = 32

    /// The maximum number of certificates that are tried as issuers. Without a limit, a peer that sends many
    /// authorities of one name could cause unlimited work. Real chains need about twelve.
    public var maximumPathSteps = 1000

    /// The maximum number of signatures that are verified, for the same reason. Real chains need fewer than ten.
    public var maximumSignatureChecks = 64

    /// The maximum number of comparisons of a name with a constraint, for the same reason. 50,000 are five hundred
    /// names below a hundred constraints.
    public var maximumNameComparisons = 50_000

    /// Creates requirements with the defaults.
    public init() {}
}
