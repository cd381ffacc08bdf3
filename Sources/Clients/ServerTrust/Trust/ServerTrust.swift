public import Logging

/// What is to be judged when a server shows its certificates: the certificates, whom to begin trust with, and the time.
///
/// It stands where `SecTrust` stands on other systems. A value: an evaluation of it changes nothing, waits for nothing, and gives the
/// same verdict again. Make one for each handshake.
///
/// ```swift
/// let trust = try ServerTrust(derEncodedChain: chainFromThePeer, host: "example.org")
/// try DefaultTrustEvaluator().evaluate(trust, forHost: "example.org")
/// ```
public struct ServerTrust: Sendable {
    /// As the peer sent them: its own first, which always is there; then others in any order. None but the first is proven to be
    /// the peer's.
    public let certificates: [TrustCertificate]

    /// Whom the connection was meant for, as the user wrote it; nil if that is not known.
    public let host: String?

    /// Whom trust begins with.
    public var anchors: TrustAnchors = .system

    /// The time for which it is judged: when this was made, unless set otherwise.
    public var time: TrustTime = .now

    /// How strict the building of a chain is.
    public var requirements = TrustRequirements()

    /// The OCSP response that came with the handshake (RFC 6066, section 8), in DER; nil if none did.
    public var stapledOCSPResponse: [UInt8]?

    /// Revocation lists at hand, besides those of ``revocation``.
    public var revocationLists: [RevocationList] = []

    /// Who knows about revocation; unless set, only the stapled response and ``revocationLists`` are known.
    public var revocation: (any RevocationChecking)?

    /// Chains that were found valid before; each evaluation builds its own if this is nil.
    public var cache: ValidatedChainCache?

    /// Where evaluations that anybody should hear of are logged at `warning`: disabled ones, pins that only report.
    public var logger = Self.log

    /// Made once, for each handshake has a trust.
    private static let log = Logger(label: "ServerTrust")

    /// The peer's own certificate.
    public var leaf: TrustCertificate { certificates[0] }

    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noCertificates`` if there are none.
    public init(certificates: [TrustCertificate], host: String? = nil) throws(ServerTrustError) {
        guard !certificates.isEmpty else { throw ServerTrustError(reason: .noCertificates, host: host ?? "") }
        self.certificates = certificates
        self.host = host
    }

    /// From the bytes of a handshake. Certificates behind the first that cannot be read are left out, for the chain may do without.
    ///
    /// - Parameters:
    ///   - derEncodedChain: Each certificate in DER, the peer's own first.
    ///   - host: Whom the connection was meant for.
    ///   - cache: Remembers what was read before, too; it becomes ``cache``.
    /// - Throws: ``ServerTrustError`` with ``TrustFailure/noCertificates``, ``TrustFailure/unreadableCertificate(_:)``,
    ///   ``TrustFailure/weakSignature(subject:algorithm:)``, ``TrustFailure/weakKey(subject:bits:)`` or
    ///   ``TrustFailure/tooComplex(_:)``.
    public init(
        derEncodedChain: [[UInt8]],
        host: String? = nil,
        cache: ValidatedChainCache? = nil
    ) throws(ServerTrustError) {
        do {
            let certificates = try cache?.certificates(of: derEncodedChain) ?? Self.read(derEncodedChain)
            try self.init(certificates: certificates, host: host)
        } catch let error as TrustFailure {
            throw ServerTrustError(reason: error, host: host ?? "")
        } catch let error as ServerTrustError {
            throw error
        } catch {
            throw ServerTrustError(reason: .unreadableCertificate(error.plainText), host: host ?? "")
        }
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
    /// Builds a chain from the server's certificate to an anchor and judges it by every policy: encoding, times, versions, critical
    /// extensions, who is an authority, usages of keys, strength of keys and signatures, constraints on names and, unless told
    /// otherwise, whose certificate it is.
    ///
    /// - Parameters:
    ///   - host: The host name or address the connection was meant for.
    ///   - validateHost: Whether the certificate must be for that host.
    /// - Throws: ``ServerTrustError``.
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

    /// Whether the server's certificate is for a host, and nothing else.
    ///
    /// - Throws: ``ServerTrustError``.
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

    /// What every chain must pass, in the order in which failures are told.
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

/// A chain from a server's certificate to an anchor that has passed every policy.
public struct ValidatedChain: Hashable, Sendable {
    /// The server's certificate first, the anchor last. One alone if the server's certificate is itself an anchor.
    public let certificates: [TrustCertificate]

    /// From the latest beginning to the earliest end of its certificates: the time in which the verdict stands.
    public let validity: ClosedRange<TrustTime>

    /// The server's own.
    public var leaf: TrustCertificate { certificates[0] }

    /// What it ends in.
    public var anchor: TrustCertificate { certificates[certificates.count - 1] }

    /// Only what the policies have passed at `time` gets here, so that the range is never upside down.
    init(_ certificates: [TrustCertificate], at time: TrustTime) {
        self.certificates = certificates
        let start = certificates.map(\.notBefore).max() ?? time
        let end = certificates.map(\.notAfter).min() ?? time
        validity = min(start, time)...max(end, time)
    }
}

extension ServerTrust {
    /// The certificates on which a pin counts: the validated chain, or without validation what signatures prove.
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

/// What the ``ServerTrust`` of each handshake begins with: one value for every client, and for the command.
///
/// The defaults suit clients of the internet, but for revocation: without ``revocation`` nobody is asked about it.
/// ``TrustPolicyFile/configuration`` makes one of a policy file.
public struct TrustConfiguration: Sendable {
    /// Whom trust begins with; a manager with anchors of its own (``ServerTrustManager/anchors``) decides otherwise.
    public var anchors: TrustAnchors = .system

    /// How strict the building of a chain is, and how much work it may be.
    public var requirements = TrustRequirements()

    /// Revocation lists at hand, besides those of the checker and of the manager.
    public var revocationLists: [RevocationList] = []

    /// Who knows about revocation, for evaluators that ask; share one among all handshakes.
    public var revocation: (any RevocationChecking)?

    /// Chains that were found valid before; nil remembers none.
    public var cache: ValidatedChainCache? = ValidatedChainCache()

    /// The time for which certificates are judged, asked for at each handshake, on any thread.
    public var now: @Sendable () -> TrustTime = { .now }

    /// Where evaluations that anybody should hear of are logged.
    public var logger = Logger(label: "ServerTrust")

    /// All at their defaults.
    public init() {}

    /// What a server has sent, ready to be judged.
    ///
    /// - Parameters:
    ///   - derEncodedChain: Each certificate in DER, the server's own first.
    ///   - host: Whom the connection is meant for.
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

/// How strict the building of a chain is. The defaults suit servers on the internet; ask for less only of old devices of your own.
public struct TrustRequirements: Hashable, Sendable {
    /// The least bits of an RSA key anywhere on the chain (NIST SP 800-57: 2048 is 112 bits of strength). Less than
    /// 2048 makes no difference: such keys cannot be read here.
    public var minimumRSABits = 2048

    /// Whether signatures with SHA-1 count. Those of anchors are never looked at.
    public var allowsSHA1 = false

    /// Whether a certificate that says what it is for must say TLS servers (RFC 5280, 4.2.1.12).
    public var requiresServerAuthentication = true

    /// The most certificates of a chain, the server's and the anchor included.
    public var maximumChainLength = 10

    /// The most certificates a peer may send.
    public var maximumSentCertificates = 32

    /// The most certificates that are tried as the issuer of another until a chain is found: a peer that sends many authorities of one
    /// name could else keep this machine busy. Chains in use need a dozen.
    public var maximumPathSteps = 1000

    /// The most signatures that are checked, for the same reason. Chains in use need a handful.
    public var maximumSignatureChecks = 64

    /// The most comparisons of a name with a constraint, for the same reason: five hundred names below a hundred constraints.
    public var maximumNameComparisons = 50_000

    /// All at their defaults.
    public init() {}
}
