import CommandLineSupport
import LinuxSupport
import ServerTrust

/// What `reachability trust` prints.
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
        let clock = TrustCheck("time", .note, "judged for \(shown.trust.time)")
        checks = [handshake] + (isAnotherTime ? [clock] : []) + judgement.checks
    }

    /// The server's certificate cannot be used by anybody, whatever the policy.
    init(_ probe: ServerProbe, unreadable error: ServerTrustError) {
        server = probe.server
        reason = error.reason
        time = .now
        version = nil
        pattern = nil
        certificates = []
        checks = [
            TrustCheck("server", .note, "\(probe.destination), the handshake was ended before its end"),
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
    /// The name of its case, for programs: `pinMismatch`.
    var name: String {
        // One with associated values is known to a mirror by its name.
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
