/// One policy of a policy file.
public struct TrustPolicyEntry: Sendable {
    /// What stands at the key `policy`.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A valid chain, and the host (``DefaultTrustEvaluator``).
        case `default`
        /// That, and nothing revoked (``RevocationTrustEvaluator``).
        case revocation
        /// One of the certificates is on the chain (``PinnedCertificatesTrustEvaluator``).
        case certificates
        /// One of the keys is on the chain (``PublicKeysTrustEvaluator``).
        case publicKeys
        /// One of the pins is on the chain (``PinSetTrustEvaluator``).
        case pins
        /// Everybody is trusted (``DisabledTrustEvaluator``).
        case disabled
    }

    /// What it asks for.
    public let kind: Kind

    /// What decides.
    public let evaluator: any ServerTrustEvaluating

    /// What it asks for in words, for people: `one of the pins (2) is on the chain, until 2027-11-01T00:00:00Z`.
    public let summary: String
}

extension TrustPolicyEntry {
    private static let chainKeys = ["validateChain", "validateHost"]

    /// - Parameters:
    ///   - node: An object with the key `policy`.
    ///   - files: Reads what it names.
    ///   - reporter: Hears of pins that did not match.
    init(_ node: JSONNode, files: PolicyFileReferences, reporter: PinSet.Reporter?) throws(PolicyFileFault) {
        var object = try JSONObjectReader(node, name: "a policy")
        let name = try object.required("policy")
        guard let text = try object.string("policy")?.text, let kind = Kind(rawValue: text) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyFileFault("there is no such policy: \"policy\" is one of \(kinds)", at: name.place)
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
            // Without that flag it passes where nobody could be asked.
            let isKnown = flags.contains(.requirePositiveResponse)
            summary.append("\(isKnown ? "nothing is" : "nobody says that anything is") revoked (\(Self.words(flags)))")
            evaluator = RevocationTrustEvaluator(validateHost: validateHost, options: flags)
        case .certificates:
            let certificates = try files.certificates(of: object)
            let acceptSelfSigned = try object.bool("acceptSelfSigned", default: false)
            summary.append("one of the pinned certificates (\(certificates.count)) is on the chain")
            if acceptSelfSigned { summary.append("which begins with them alone") }
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
            if let expires = pins.expires { summary.append("until \(expires)") }
            if pins.reportsOnly { summary.append("otherwise it is only reported") }
            evaluator = PinSetTrustEvaluator(
                pins: pins,
                performDefaultValidation: validateChain,
                validateHost: validateHost
            )
        case .disabled:
            summary.append("anybody is trusted")
            evaluator = DisabledTrustEvaluator()
        }
        if !validateChain { summary.append("which need not be valid") }
        if !validateHost { summary.append("whatever host the certificate is for") }
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

    private static func flags(_ object: JSONObjectReader) throws(PolicyFileFault) -> RevocationFlags {
        guard let names = try object.strings("flags") else { return .any }
        var found: RevocationFlags = []
        for (name, place) in names {
            guard let flag = flags.first(where: { $0.name == name })?.flag else {
                let all = flags.map(\.name).joined(separator: ", ")
                throw PolicyFileFault("there is no flag \"\(name)\": \"flags\" may have \(all)", at: place)
            }
            found.insert(flag)
        }
        return found
    }

    private static func words(_ value: RevocationFlags) -> String {
        // Neither means both.
        let value = value.isDisjoint(with: .any) ? value.union(.any) : value
        return flags.filter { value.contains($0.flag) }.map(\.name).joined(separator: " ")
    }

    private static func pins(
        _ object: JSONObjectReader,
        reporter: PinSet.Reporter?
    ) throws(PolicyFileFault) -> PinSet {
        let node = try object.required("pins")
        var pins: [PublicKeyPin] = []
        for (text, place) in try object.strings("pins") ?? [] {
            do {
                pins.append(try PublicKeyPin(text))
            } catch {
                throw PolicyFileFault(error.description, at: place)
            }
        }
        var expires: TrustTime?
        if let (text, place) = try object.string("expires") {
            expires = TrustTime(text)
            if expires == nil {
                throw PolicyFileFault("\"\(text)\" is no time: write 2027-11-01 or 2027-11-01T12:00:00Z", at: place)
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
        } catch let fault as PolicyFileFault {
            throw fault
        } catch PinError.backupPinMissing {
            throw PolicyFileFault("\(PinError.backupPinMissing) with \"requireBackup\": false", at: node.place)
        } catch {
            throw PolicyFileFault("\(error)", at: node.place)
        }
    }
}
