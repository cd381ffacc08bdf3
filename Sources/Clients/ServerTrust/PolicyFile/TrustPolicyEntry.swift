import LinuxSupport

/// One policy of a policy file.
public struct TrustPolicyEntry: Sendable {
    /// The value of the key `policy`.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A policy that requires a valid chain and the host (``DefaultTrustEvaluator``).
        case `default`
        /// A policy that requires the same, and that no certificate is revoked (``RevocationTrustEvaluator``).
        case revocation
        /// A policy that requires that one of the certificates is on the chain (``PinnedCertificatesTrustEvaluator``).
        case certificates
        /// A policy that requires that one of the keys is on the chain (``PublicKeysTrustEvaluator``).
        case publicKeys
        /// A policy that requires that one of the pins is on the chain (``PinSetTrustEvaluator``).
        case pins
        /// A policy that trusts every server (``DisabledTrustEvaluator``).
        case disabled
    }

    /// The kind of the policy.
    public let kind: Kind

    /// The evaluator of the policy.
    public let evaluator: any ServerTrustEvaluating

    /// The requirements of the policy as text: `one of the pins (2) is on the chain, enforced until
    /// 2027-11-01T00:00:00Z`.
    public let summary: String
}

extension TrustPolicyEntry {
    private static let chainKeys = ["validateChain", "validateHost"]

    /// Parses a policy.
    ///
    /// - Parameters:
    ///   - node: An object with the key `policy`.
    ///   - files: Reads the files that the policy names.
    ///   - reporter: Receives mismatches of pins.
    init(_ node: JSONNode, files: PolicyFileReferences, reporter: PinSet.Reporter?) throws(PolicyFileError) {
        var object = try JSONObjectReader(node, name: "a policy")
        let name = try object.required("policy")
        guard let text = try object.string("policy")?.text, let kind = Kind(rawValue: text) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyFileError("the policy is unknown; \"policy\" must be one of \(kinds)", at: name.position)
        }
        object = object.named("a policy of the kind \"\(kind.rawValue)\"")
        try object.allow(["policy"] + Self.keys(of: kind))
        let validateHost = try object.bool("validateHost", default: true)
        let validateChain = try object.bool("validateChain", default: true)
        var summary: [String] = []
        let evaluator: any ServerTrustEvaluating
        switch kind {
        case .default:
            summary.append("a valid chain")
            evaluator = DefaultTrustEvaluator(validateHost: validateHost)
        case .revocation:
            let flags = try Self.flags(object)
            // Without that flag an unknown status is accepted.
            let isKnown = flags.contains(.requirePositiveResponse)
            summary.append("no certificate is \(isKnown ? "" : "known to be ")revoked (\(Self.words(flags)))")
            evaluator = RevocationTrustEvaluator(validateHost: validateHost, options: flags)
        case .certificates:
            let certificates = try files.certificates(of: object)
            let acceptSelfSigned = try object.bool("acceptSelfSigned", default: false)
            summary.append("one of the pinned certificates (\(certificates.count)) is on the chain")
            if acceptSelfSigned { summary.append("they are the only anchors") }
            evaluator = PinnedCertificatesTrustEvaluator(
                certificates: certificates,
                acceptSelfSignedCertificates: acceptSelfSigned,
                performDefaultValidation: validateChain,
                validateHost: validateHost
            )
        case .publicKeys:
            let keys = try files.publicKeys(of: object)
            summary.append("one of the pinned keys (\(keys.count)) is on the chain")
            evaluator = PublicKeysTrustEvaluator(
                keys: keys,
                performDefaultValidation: validateChain,
                validateHost: validateHost
            )
        case .pins:
            let pins = try Self.pins(object, reporter: reporter)
            summary.append("one of the pins (\(pins.pins.count)) is on the chain")
            if let expires = pins.expires { summary.append("enforced until \(expires)") }
            if pins.reportsOnly { summary.append("a mismatch is only reported") }
            evaluator = PinSetTrustEvaluator(
                pins: pins,
                performDefaultValidation: validateChain,
                validateHost: validateHost
            )
        case .disabled:
            summary.append("every server is trusted")
            evaluator = DisabledTrustEvaluator()
        }
        if !validateChain { summary.append("the chain need not be valid") }
        if !validateHost { summary.append("the certificate may be for any host") }
        self.init(kind: kind, evaluator: evaluator, summary: summary.joined(separator: ", "))
    }

    private static func keys(of kind: Kind) -> [String] {
        switch kind {
        case .default: ["validateHost"]
        case .revocation: ["flags", "validateHost"]
        case .certificates: ["files", "acceptSelfSigned"] + chainKeys
        case .publicKeys: ["files"] + chainKeys
        case .pins: ["pins", "requireBackup", "expires", "reportOnly"] + chainKeys
        case .disabled: []
        }
    }

    private static let flags: [(name: String, flag: RevocationFlags)] = [
        ("ocsp", .ocsp), ("crl", .crl), ("preferCRL", .preferCRL),
        ("requirePositiveResponse", .requirePositiveResponse), ("networkAccessDisabled", .networkAccessDisabled),
    ]

    private static func flags(_ object: JSONObjectReader) throws(PolicyFileError) -> RevocationFlags {
        guard let names = try object.strings("flags") else { return .any }
        var found: RevocationFlags = []
        for (name, position) in names {
            guard let flag = flags.first(where: { $0.name == name })?.flag else {
                let all = flags.map(\.name).joined(separator: ", ")
                throw PolicyFileError("the flag \"\(name)\" is unknown; the flags are \(all)", at: position)
            }
            found.insert(flag)
        }
        return found
    }

    private static func words(_ value: RevocationFlags) -> String {
        // Without either method, both are permitted.
        let value = value.isDisjoint(with: .any) ? value.union(.any) : value
        return flags.filter { value.contains($0.flag) }.map(\.name).joined(separator: " ")
    }

    private static func pins(
        _ object: JSONObjectReader,
        reporter: PinSet.Reporter?
    ) throws(PolicyFileError) -> PinSet {
        let node = try object.required("pins")
        var pins: [PublicKeyPin] = []
        for (text, position) in try object.strings("pins") ?? [] {
            do {
                pins.append(try PublicKeyPin(text))
            } catch {
                throw PolicyFileError(error.description, at: position)
            }
        }
        var expires: TrustTime?
        if let (text, position) = try object.string("expires") {
            expires = TrustTime(text)
            if expires == nil {
                throw PolicyFileError(
                    "\"\(text)\" is not a time; write 2027-11-01 or 2027-11-01T12:00:00Z",
                    at: position
                )
            }
        }
        do {
            return try PinSet(
                pins,
                requiresBackup: try object.bool("requireBackup", default: true),
                expires: expires,
                reportsOnly: try object.bool("reportOnly", default: false),
                reporter: reporter
            )
        } catch let fault as PolicyFileError {
            throw fault
        } catch PinError.backupPinMissing {
            throw PolicyFileError("\(PinError.backupPinMissing) with \"requireBackup\": false", at: node.position)
        } catch {
            throw PolicyFileError("\(error)", at: node.position)
        }
    }
}
