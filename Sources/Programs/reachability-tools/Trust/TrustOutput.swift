import CommandLineSupport
import LinuxSupport
import ServerTrust
import X509

/// The output of `reachability trust`.
struct TrustOutput: Sendable {
    private let server: ServerAddress
    private let reason: TrustFailure?
    private let time: TrustTime
    private let version: String?
    private let pattern: String?
    private let certificates: [CertificateLine]
    private let checks: [TrustCheck]

    var isTrusted: Bool { reason == nil }

    init(_ probe: ServerProbe, _ shown: ShownServer, _ judgement: TrustJudgement, isAnotherTime: Bool) {
        server = probe.server
        reason = judgement.reason
        time = shown.trust.time
        version = shown.version
        pattern = judgement.pattern
        certificates = CertificateLine.all(of: shown.trust, chain: judgement.chain)
        let handshake = TrustCheck("server", .ok, "\(probe.destination), TLS \(shown.version)")
        let clock = TrustCheck("time", .note, "evaluated for \(shown.trust.time)")
        checks = [handshake] + (isAnotherTime ? [clock] : []) + judgement.checks
    }

    /// Creates the output for a server certificate that no policy can use.
    init(_ probe: ServerProbe, unreadable error: ServerTrustError) {
        server = probe.server
        reason = error.reason
        time = .now
        version = nil
        pattern = nil
        certificates = []
        checks = [
            TrustCheck("server", .note, "\(probe.destination), the handshake was aborted"),
            TrustCheck("chain", .failed, "\(error.reason)"),
        ]
    }

    var lines: [String] {
        var lines = ["\(server): \(reason.map { "not trusted, \("\($0)".printable)" } ?? "trusted")"]
        for certificate in certificates { lines += Table.lines(certificate.kind.rawValue, certificate.texts) }
        return lines + checks.flatMap(\.lines)
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("host", server.host)
        object.add("port", server.port)
        object.add("time", time.description)
        object.add("tlsVersion", version)
        object.add("trusted", isTrusted)
        object.add("reason", reason?.name)
        object.add("text", reason?.description.printable)
        object.add("policy", pattern)
        object.add("certificates", certificates.map(\.json))
        object.add("checks", checks.map(\.json))
        object.add("kind", "trust")
        return object
    }
}

extension TrustFailure {
    /// The name of the case in JSON, for example `pinMismatch`.
    var name: String {
        // For a case with associated values, a mirror contains its name.
        if let label = Mirror(reflecting: self).children.first?.label { return label }
        switch self {
        case .noCertificates: return "noCertificates"
        case .noPins: return "noPins"
        case .noEvaluator: return "noEvaluator"
        case .cancelled: return "cancelled"
        case .noRevocationChecker: return "noRevocationChecker"
        default: return "other"
        }
    }
}

/// The output of `reachability pin`.
struct PinOutput {
    private let server: ServerAddress
    private let shown: ShownServer
    private let certificates: [CertificateLine]
    private let backup: CertificateLine?
    /// The reason why the server is not trusted; nil if it is trusted.
    private let reason: TrustFailure?
    /// The origin of the anchors, for the output.
    private let anchorOrigin: String

    init(server: ServerAddress, shown: ShownServer, anchors: String?) {
        self.server = server
        self.shown = shown
        anchorOrigin = anchors.map { "the anchors in \($0)" } ?? "the system"
        var chain: ValidatedChain?
        do {
            chain = try shown.trust.validatedChain(forHost: server.host)
            reason = nil
        } catch {
            reason = error.reason
        }
        certificates = CertificateLine.all(of: shown.trust, chain: chain)
        // The certificate above the server's own is used by the fewest other servers.
        let next = chain?.certificates.dropFirst().first
        backup = certificates.first { $0.certificate == next }
    }

    var lines: [String] {
        let count = shown.trust.certificates.count
        let verdict =
            reason.map { "not trusted by \(anchorOrigin): \("\($0)".printable)" } ?? "trusted by \(anchorOrigin)"
        var lines = [
            "\(server): \(count) \(count == 1 ? "certificate" : "certificates"), TLS \(shown.version), \(verdict)"
        ]
        for certificate in certificates { lines += Table.lines(certificate.kind.rawValue, certificate.texts) }
        return lines + Table.lines("backup", backupTexts)
    }

    private var backupTexts: [String] {
        guard reason == nil else { return ["none: only certificates on a trusted chain are suggested"] }
        guard let backup else { return ["none: there is no certificate above the server's own"] }
        return [backup.pin, "the key of \(backup.subject); better: an unused key of your own"]
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("host", server.host)
        object.add("port", server.port)
        object.add("tlsVersion", shown.version)
        object.add("trusted", reason == nil)
        object.add("reason", reason?.name)
        object.add("text", reason?.description.printable)
        object.add("certificates", certificates.map(\.json))
        object.add("backup", backup?.pin)
        object.add("kind", "pins")
        return object
    }
}

/// A certificate in the output.
struct CertificateLine: Sendable {
    enum Kind: String, Sendable {
        case leaf, intermediate, root
    }

    let certificate: TrustCertificate
    let kind: Kind
    /// True if the server sent the certificate. Otherwise it is an anchor.
    let isSent: Bool
    /// True if the certificate is on the valid chain, so that its pin can match; nil if no chain is valid.
    let isOnChain: Bool?
    let now: TrustTime

    /// Returns the certificates that the server sent, in their order, and then the other certificates of the validated chain.
    static func all(of trust: ServerTrust, chain: ValidatedChain?) -> [CertificateLine] {
        let others = (chain?.certificates ?? []).filter { !trust.certificates.contains($0) }
        let all = trust.certificates.map { ($0, true) } + others.map { ($0, false) }
        return all.map { certificate, isSent in
            let kind: Kind =
                certificate == trust.leaf ? .leaf : certificate.isSelfIssued ? .root : .intermediate
            let isOnChain = chain.map { $0.certificates.contains(certificate) }
            return CertificateLine(
                certificate: certificate,
                kind: kind,
                isSent: isSent,
                isOnChain: isOnChain,
                now: trust.time
            )
        }
    }

    var subject: String {
        let subject = certificate.x509.subject
        return subject.isEmpty ? certificate.description : subject.readable
    }
    var issuer: String { certificate.x509.issuer.readable }
    var pin: String { PublicKeyPin(certificate).description }

    private var left: TimeLeft { TimeLeft(end: certificate.notAfter, now: now) }

    /// The lines of the certificate: subject, issuer with validity, and pin.
    var texts: [String] {
        let issued = certificate.isSelfIssued ? "self-issued" : "issued by \(issuer)"
        let note = isOnChain == false ? ", not on the chain" : isSent ? "" : ", not sent"
        return [subject + note, "\(issued), \(left), \(certificate.notAfter)", pin]
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("kind", kind.rawValue)
        object.add("subject", subject)
        object.add("issuer", issuer)
        object.add("names", certificate.subjectAlternativeNames.map(\.printable))
        object.add("notBefore", certificate.notBefore.description)
        object.add("notAfter", certificate.notAfter.description)
        object.add("secondsLeft", left.seconds)
        object.add("sent", isSent)
        object.add("onChain", isOnChain)
        object.add("pin", pin)
        return object
    }
}

/// The remaining validity of a certificate, for example `expires in 89 days`.
struct TimeLeft: CustomStringConvertible {
    let end: TrustTime
    let now: TrustTime

    /// The remaining seconds; negative after the end.
    var seconds: Int64 { end.secondsSinceEpoch - now.secondsSinceEpoch }

    var description: String {
        seconds < 0 ? "expired \(Self.words(-seconds)) ago" : "expires in \(Self.words(seconds))"
    }

    /// Returns the time in the largest unit that has a value of at least two.
    private static func words(_ seconds: Int64) -> String {
        let units: [(name: String, seconds: Int64)] = [
            ("years", 365 * 86_400), ("days", 86_400), ("hours", 3600), ("minutes", 60),
        ]
        guard let unit = units.first(where: { seconds >= 2 * $0.seconds }) else { return "\(seconds) s" }
        return "\(seconds / unit.seconds) \(unit.name)"
    }
}

/// Formats lines whose first column is a word.
enum Table {
    /// Returns one line per text. The first line begins with the word.
    static func lines(_ word: String, _ texts: [String]) -> [String] {
        texts.enumerated().map { index, text in
            (index == 0 ? word : "").padded(to: 13) + " " + text
        }
    }

    static func write(_ lines: [String]) {
        StandardOutput.write(Array(lines.joined(separator: "\n").utf8))
    }
}

/// A check of a server, and its result.
struct TrustCheck: Sendable {
    enum State: String, Sendable {
        case ok, failed
        /// The check does not affect the result.
        case note
    }

    let name: String
    let state: State
    let text: String

    init(_ name: String, _ state: State, _ text: String) {
        self.name = name
        self.state = state
        self.text = text.printable
    }

    /// The line of the check. Its first column has eight characters, as in `reachability why`.
    var lines: [String] {
        [state.rawValue.padded(to: 8) + Table.lines(name, [text])[0]]
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("check", name)
        object.add("state", state.rawValue)
        object.add("text", text)
        return object
    }
}

/// The result of the evaluation of a server.
struct TrustJudgement: Sendable {
    /// The reason why the server is not trusted; nil if it is trusted.
    let reason: TrustFailure?
    /// The valid chain; nil without one.
    let chain: ValidatedChain?
    /// The pattern of the policy file that applies; nil without one.
    let pattern: String?
    let checks: [TrustCheck]
}
