public import Logging

/// How a server is judged: the enumeration of Alamofire 4. Each case is one of the evaluators of Alamofire 5 (``evaluator``).
public enum ServerTrustPolicy: Sendable {
    /// A valid chain to an anchor; the host if `validateHost`.
    case performDefaultEvaluation(validateHost: Bool)

    /// That, and nothing revoked.
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: RevocationFlags)

    /// A pinned certificate is on the chain. With `validateCertificateChain` the pinned certificates are the only anchors, as in
    /// Alamofire 4; without, signatures must lead to one. No certificates: nobody is trusted.
    case pinCertificates(certificates: [TrustCertificate], validateCertificateChain: Bool, validateHost: Bool)

    /// A pinned key is on the chain, which must be valid with `validateCertificateChain`. No keys: nobody is trusted.
    case pinPublicKeys(publicKeys: [ServerPublicKey], validateCertificateChain: Bool, validateHost: Bool)

    /// Trusts **everybody**, and says so in the log once for each host: see ``DisabledTrustEvaluator``.
    case disableEvaluation

    /// Whatever the closure says; nothing else is checked.
    case customEvaluation(@Sendable (_ serverTrust: ServerTrust, _ host: String) -> Bool)

    /// Whether a server is trusted. ``evaluator`` tells why not.
    ///
    /// Answers at once; with `performRevokedEvaluation` only from what is at hand.
    public func evaluate(_ serverTrust: ServerTrust, forHost host: String) -> Bool {
        do {
            try evaluator.evaluate(serverTrust, forHost: host)
            return true
        } catch {
            serverTrust.logger.info("\(error)")
            return false
        }
    }
}

extension ServerTrustPolicy {
    /// The same as an evaluator, which tells reasons and can wait for answers about revocation.
    public var evaluator: any ServerTrustEvaluating {
        switch self {
        case .performDefaultEvaluation(let validateHost):
            DefaultTrustEvaluator(validateHost: validateHost)
        case .performRevokedEvaluation(let validateHost, let revocationFlags):
            RevocationTrustEvaluator(validateHost: validateHost, options: revocationFlags)
        case .pinCertificates(let certificates, let validateCertificateChain, let validateHost):
            PinnedCertificatesTrustEvaluator(
                certificates: certificates,
                acceptSelfSignedCertificates: validateCertificateChain,
                validateCertificateChain: validateCertificateChain,
                validateHost: validateHost
            )
        case .pinPublicKeys(let publicKeys, let validateCertificateChain, let validateHost):
            PublicKeysTrustEvaluator(
                keys: publicKeys,
                validateCertificateChain: validateCertificateChain,
                validateHost: validateHost
            )
        case .disableEvaluation:
            DisabledTrustEvaluator()
        case .customEvaluation(let closure):
            ClosureTrustEvaluator(closure: closure)
        }
    }
}

/// Asks a closure.
struct ClosureTrustEvaluator: ServerTrustEvaluating {
    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !closure(trust, host) else { return }
        let reason = TrustFailure.custom("the custom evaluation refused it")
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}

extension ServerTrustPolicy {
    /// The certificates in a directory, in files whose names end in `cer`, `crt`, `der` or `pem` in upper or lower case. What cannot be
    /// read is left out and logged at `warning`, with the file and why; so is a directory that is not there, which has none. An empty list trusts
    /// nobody. ``CertificateFiles/read(directory:anyName:logger:)`` throws where there is no such directory.
    ///
    /// - Parameters:
    ///   - directory: Its path; of a bundle, its `resourcePath`.
    ///   - logger: Where is said what was left out.
    public static func certificates(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [TrustCertificate] {
        do {
            return try CertificateFiles.read(directory: directory, logger: logger)
        } catch {
            logger.warning("no certificates are read: \("\(error)".shown)")
            return []
        }
    }

    /// The keys of those certificates.
    public static func publicKeys(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [ServerPublicKey] {
        certificates(in: directory, logger: logger).map(\.publicKey)
    }
}

/// Which policy is for which host: the manager of Alamofire 4, with the patterns of ``HostPattern``; the most specific decides.
///
/// A pattern that is none, or two for the same hosts, make all hosts be refused.
public final class ServerTrustPolicyManager: Sendable {
    /// As they were given.
    public let policies: [String: ServerTrustPolicy]

    private let table: HostTable<ServerTrustPolicy>
    private let lookup: (@Sendable (String) -> ServerTrustPolicy?)?

    /// - Parameters:
    ///   - policies: By patterns of hosts.
    ///   - lookup: Asked first, for what patterns cannot say, with the host as ``ServerHost`` writes it; nil goes on with `policies`. It is what overriding
    ///     `serverTrustPolicy(forHost:)` is in Alamofire.
    public init(
        policies: [String: ServerTrustPolicy],
        lookup: (@Sendable (_ host: String) -> ServerTrustPolicy?)? = nil
    ) {
        self.policies = policies
        self.lookup = lookup
        table = HostTable(policies)
    }

    /// The policy for a host, nil if there is none. A text that is no host, or a manager with a pattern that is none, has one that
    /// refuses everything.
    public func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? {
        if let policy = lookup?(ServerHost.canonical(host)) { return policy }
        do {
            return try table.value(forHost: host)
        } catch {
            let reason = error
            return .customEvaluation { trust, host in
                trust.logger.warning("\(ServerTrustError(reason: reason, host: host))")
                return false
            }
        }
    }
}

/// The policy of AFNetworking, as a thin mapping to the evaluators.
///
/// | Mode | `allowInvalidCertificates` | Evaluated as |
/// |---|---|---|
/// | `none` | no | ``DefaultTrustEvaluator`` |
/// | `none` | yes | ``DisabledTrustEvaluator``; with `validatesDomainName` nobody is trusted, for a name nobody vouches for says nothing |
/// | `publicKey` | no | ``PublicKeysTrustEvaluator`` |
/// | `publicKey` | yes | the same without validation of the chain; the domain name is looked at, which AFNetworking does not |
/// | `certificate` | no | a valid chain to the system's anchors, then as with yes |
/// | `certificate` | yes | ``PinnedCertificatesTrustEvaluator`` with the pinned certificates as the only anchors |
public struct AFSecurityPolicy: Hashable, Sendable {
    /// What is pinned.
    public var sslPinningMode: AFSSLPinningMode
    /// The pinned certificates, or those whose keys are.
    public var pinnedCertificates: [TrustCertificate]
    /// Whether servers without a valid chain are trusted, if the pins say so.
    public var allowInvalidCertificates = false
    /// Whether the certificate must be for the host.
    public var validatesDomainName = true

    /// A policy that validates chains and domain names. Nothing is pinned but what is given: there is no bundle whose certificates
    /// AFNetworking pins by itself.
    public init(pinningMode: AFSSLPinningMode = .none, withPinnedCertificates certificates: [TrustCertificate] = []) {
        sslPinningMode = pinningMode
        pinnedCertificates = certificates
    }

    /// The policy without pins that allows no invalid certificates and validates domain names.
    public static func `default`() -> AFSecurityPolicy { AFSecurityPolicy() }

    /// The certificates in a directory, as ``ServerTrustPolicy/certificates(in:logger:)`` reads them.
    public static func certificates(in directory: String) -> [TrustCertificate] {
        ServerTrustPolicy.certificates(in: directory)
    }

    /// Whether a server is trusted. ``evaluator`` tells why not, and so does the log at `info`.
    ///
    /// - Parameters:
    ///   - serverTrust: What the server has shown.
    ///   - domain: Whom the connection was meant for; nil if the name is not to be validated.
    public func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        var policy = self
        if domain == nil { policy.validatesDomainName = false }
        do {
            try policy.evaluator.evaluate(serverTrust, forHost: domain ?? serverTrust.host ?? "")
            return true
        } catch {
            serverTrust.logger.info("\(error)")
            return false
        }
    }

    /// The same as an evaluator.
    public var evaluator: any ServerTrustEvaluating {
        switch (sslPinningMode, allowInvalidCertificates) {
        case (.none, false):
            return DefaultTrustEvaluator(validateHost: validatesDomainName)
        case (.none, true):
            return validatesDomainName ? UnvouchedNameTrustEvaluator() : DisabledTrustEvaluator()
        case (.publicKey, let allowsInvalid):
            return PublicKeysTrustEvaluator(
                keys: pinnedCertificates.map(\.publicKey),
                validateCertificateChain: !allowsInvalid,
                validateHost: validatesDomainName
            )
        case (.certificate, let allowsInvalid):
            let pinned = PinnedCertificatesTrustEvaluator(
                certificates: pinnedCertificates,
                acceptSelfSignedCertificates: true,
                validateHost: validatesDomainName
            )
            if allowsInvalid { return pinned }
            let valid = DefaultTrustEvaluator(validateHost: validatesDomainName)
            return CompositeTrustEvaluator(evaluators: [valid, pinned])
        }
    }
}

/// What is pinned, with the raw values of AFNetworking.
public enum AFSSLPinningMode: UInt, Hashable, Sendable {
    /// Nothing: the server is judged by the anchors alone.
    case none = 0
    /// The keys of the pinned certificates.
    case publicKey = 1
    /// The pinned certificates.
    case certificate = 2
}

/// Trusts nobody: without pins and without a valid chain a name is what anybody has written into a certificate.
struct UnvouchedNameTrustEvaluator: ServerTrustEvaluating {
    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let reason = TrustFailure.custom(
            "a domain name can only be validated with a valid chain or with pins: pin the certificate"
        )
        throw ServerTrustError(reason: reason, host: host, chain: trust.certificates)
    }
}
