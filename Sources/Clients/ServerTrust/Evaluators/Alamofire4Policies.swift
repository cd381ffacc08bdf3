public import Logging

/// A policy for the evaluation of a server: the enumeration of Alamofire 4. Each case corresponds to an evaluator of
/// Alamofire 5 (``evaluator``).
public enum ServerTrustPolicy: Sendable {
    /// A policy that requires a valid chain to an anchor and, if `validateHost` is true, a certificate for the host.
    case performDefaultEvaluation(validateHost: Bool)

    /// A policy that requires the same, and that no certificate of the chain is revoked.
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: RevocationFlags)

    /// A policy that requires that a pinned certificate is on the chain. If `validateCertificateChain` is true, the
    /// chain must be valid and the pinned certificates are the only anchors, as in Alamofire 4. Otherwise the pinned
    /// certificate must be linked to the server's certificate by signatures. If `certificates` is empty, no server is
    /// trusted.
    case pinCertificates(certificates: [TrustCertificate], validateCertificateChain: Bool, validateHost: Bool)

    /// A policy that requires that a pinned key is on the chain. If `validateCertificateChain` is true, the chain must
    /// be valid. If `publicKeys` is empty, no server is trusted.
    case pinPublicKeys(publicKeys: [ServerPublicKey], validateCertificateChain: Bool, validateHost: Bool)

    /// A policy that trusts **every server**. The log has one warning for each host. See ``DisabledTrustEvaluator``.
    case disableEvaluation

    /// A policy that trusts the server if the closure returns true. Nothing else is checked.
    case customEvaluation(@Sendable (_ serverTrust: ServerTrust, _ host: String) -> Bool)

    /// Returns whether a server is trusted. A refusal is logged at `info`; ``evaluator`` throws the reason.
    ///
    /// Returns immediately and sends no network requests. With `performRevokedEvaluation` only local and cached
    /// revocation data is used.
    public func evaluate(_ serverTrust: ServerTrust, forHost host: String) -> Bool {
        evaluator.isTrusted(serverTrust, forHost: host)
    }
}

extension ServerTrustPolicy {
    /// The evaluator of this policy. It throws the reason of a refusal, and can query revocation servers.
    public var evaluator: any ServerTrustEvaluating {
        switch self {
        case .performDefaultEvaluation(let validateHost):
            DefaultTrustEvaluator(validateHost: validateHost)
        case .performRevokedEvaluation(let validateHost, let revocationFlags):
            RevocationTrustEvaluator(validateHost: validateHost, options: revocationFlags)
        case .pinCertificates(let certificates, let validateChain, let validateHost):
            PinEvaluator(
                certificates: certificates,
                areAnchors: validateChain,
                validateChain: validateChain,
                validateHost: validateHost
            )
        case .pinPublicKeys(let publicKeys, let validateChain, let validateHost):
            PinEvaluator(keys: publicKeys, validateChain: validateChain, validateHost: validateHost)
        case .disableEvaluation:
            DisabledTrustEvaluator()
        case .customEvaluation(let closure):
            ClosureTrustEvaluator(closure: closure)
        }
    }
}

extension ServerTrustEvaluating {
    /// Returns whether a server is trusted. A refusal is logged at `info`.
    fileprivate func isTrusted(_ trust: ServerTrust, forHost host: String) -> Bool {
        do {
            try evaluate(trust, forHost: host)
            return true
        } catch {
            trust.logger.info("\(error)")
            return false
        }
    }
}

/// An evaluator that calls a closure.
struct ClosureTrustEvaluator: ServerTrustEvaluating {
    /// The reason of a refusal.
    var reason = "the custom evaluation refused it"
    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard !closure(trust, host) else { return }
        throw ServerTrustError(reason: .custom(reason), host: host, chain: trust.certificates)
    }
}

extension ServerTrustPolicy {
    /// Reads the certificates in a directory, from files whose names end in `cer`, `crt`, `der` or `pem`, in upper or
    /// lower case.
    ///
    /// Files that cannot be read are skipped and logged at `warning`, with the file and the reason. If the directory
    /// cannot be read, this is logged too and the result is empty. An evaluator without certificates trusts no server.
    /// To get an error instead, use ``CertificateFiles/read(directory:anyName:logger:)``.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory; for a bundle, its `resourcePath`.
    ///   - logger: The log for skipped files.
    public static func certificates(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [TrustCertificate] {
        do {
            return try CertificateFiles.read(directory: directory, logger: logger)
        } catch {
            logger.warning("no certificates were read: \("\(error)".shown)")
            return []
        }
    }

    /// Reads the public keys of the certificates in a directory, as ``certificates(in:logger:)`` does.
    public static func publicKeys(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [ServerPublicKey] {
        certificates(in: directory, logger: logger).map(\.publicKey)
    }
}

/// The policies of hosts: the manager of Alamofire 4, with the patterns of ``HostPattern``. The most specific pattern
/// applies.
///
/// If a pattern is invalid, or two patterns match the same hosts, the manager refuses all hosts.
public final class ServerTrustPolicyManager: Sendable {
    /// The policies by pattern, as passed to the initializer.
    public let policies: [String: ServerTrustPolicy]

    private let table: HostTable<ServerTrustPolicy>

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - policies: The policies by host pattern.
    ///   - lookup: A function that is called before the patterns are compared. It gets the host in the form of
    ///     ``ServerHost``: lower case, A-labels, no trailing dot. If it returns nil, `policies` applies. It replaces an
    ///     override of `serverTrustPolicy(forHost:)` in Alamofire.
    public init(
        policies: [String: ServerTrustPolicy],
        lookup: (@Sendable (_ host: String) -> ServerTrustPolicy?)? = nil
    ) {
        self.policies = policies
        table = HostTable(policies, lookup: lookup)
    }

    /// Returns the policy for a host; nil if no pattern matches. If the host or a pattern of the manager is invalid,
    /// the policy refuses every server.
    public func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? {
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

/// The policy of AFNetworking, mapped to evaluators.
///
/// | Mode | `allowInvalidCertificates` | Evaluated as |
/// |---|---|---|
/// | `none` | no | ``DefaultTrustEvaluator`` |
/// | `none` | yes | ``DisabledTrustEvaluator``; with `validatesDomainName` no server is trusted, because no authority has verified the name |
/// | `publicKey` | no | ``PublicKeysTrustEvaluator`` |
/// | `publicKey` | yes | the same without chain validation; the domain name is checked, unlike in AFNetworking |
/// | `certificate` | no | a valid chain to the system's anchors, then as with yes |
/// | `certificate` | yes | ``PinnedCertificatesTrustEvaluator`` with the pinned certificates as the only anchors |
public struct AFSecurityPolicy: Hashable, Sendable {
    /// The objects that are pinned.
    public var sslPinningMode: AFSSLPinningMode
    /// The pinned certificates, or the certificates whose keys are pinned.
    public var pinnedCertificates: [TrustCertificate]
    /// A Boolean value that indicates whether servers without a valid chain are trusted if the pins match.
    public var allowInvalidCertificates = false
    /// A Boolean value that indicates whether the certificate must be for the host.
    public var validatesDomainName = true

    /// Creates a policy that validates chains and domain names. Only the given certificates are pinned. AFNetworking
    /// also pins the certificates of the bundle, which does not exist here.
    public init(pinningMode: AFSSLPinningMode = .none, withPinnedCertificates certificates: [TrustCertificate] = []) {
        sslPinningMode = pinningMode
        pinnedCertificates = certificates
    }

    /// Returns a policy without pins that refuses invalid certificates and validates domain names.
    public static func `default`() -> AFSecurityPolicy { AFSecurityPolicy() }

    /// Reads the certificates in a directory, as ``ServerTrustPolicy/certificates(in:logger:)`` does.
    public static func certificates(in directory: String) -> [TrustCertificate] {
        ServerTrustPolicy.certificates(in: directory)
    }

    /// Returns whether a server is trusted. A refusal is logged at `info`; ``evaluator`` throws the reason.
    ///
    /// - Parameters:
    ///   - serverTrust: The server's certificates and the settings of the evaluation.
    ///   - domain: The host of the connection; nil if the name is not validated.
    public func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        var policy = self
        if domain == nil { policy.validatesDomainName = false }
        return policy.evaluator.isTrusted(serverTrust, forHost: domain ?? serverTrust.host ?? "")
    }

    /// The evaluator of this policy.
    public var evaluator: any ServerTrustEvaluating {
        switch (sslPinningMode, allowInvalidCertificates) {
        case (.none, false):
            return DefaultTrustEvaluator(validateHost: validatesDomainName)
        case (.none, true):
            // Without pins and without a valid chain, no authority has verified the name in a certificate.
            guard validatesDomainName else { return DisabledTrustEvaluator() }
            return ClosureTrustEvaluator(
                reason: "a domain name can only be validated with a valid chain or with pins: pin the certificate"
            ) { _, _ in false }
        case (.publicKey, let allowsInvalid):
            let keys = pinnedCertificates.map(\.publicKey)
            return PinEvaluator(keys: keys, validateChain: !allowsInvalid, validateHost: validatesDomainName)
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

/// The objects that are pinned, with the raw values of AFNetworking.
public enum AFSSLPinningMode: UInt, Hashable, Sendable {
    /// Nothing. Only the chain is validated.
    case none = 0
    /// The keys of the pinned certificates.
    case publicKey = 1
    /// The pinned certificates.
    case certificate = 2
}
