import CommandLineSupport
import LinuxSupport
import ServerTrust

/// What `reachability pin` prints.
struct PinOutput {
    private let server: ServerAddress
    private let shown: ShownServer
    private let certificates: [CertificateLine]
    private let backup: CertificateLine?
    /// Nil if the server is trusted.
    private let reason: TrustFailure?
    /// Whose anchors were asked.
    private let who: String

    init(server: ServerAddress, shown: ShownServer, anchors: String?) {
        self.server = server
        self.shown = shown
        who = anchors.map { "the anchors in \($0)" } ?? "the system"
        var chain: ValidatedChain?
        do {
            chain = try shown.trust.validatedChain(forHost: server.host)
            reason = nil
        } catch {
            reason = error.reason
        }
        certificates = CertificateLine.all(of: shown.trust, chain: chain)
        // The nearest to the server: the farther, the more servers of others have it on their chains too.
        let next = chain?.certificates.dropFirst().first
        backup = certificates.first { $0.certificate == next }
    }

    var lines: [String] {
        let count = shown.trust.certificates.count
        let verdict = reason.map { "not trusted by \(who): \("\($0)".printable)" } ?? "trusted by \(who)"
        var lines = [
            "\(server): \(count) \(count == 1 ? "certificate" : "certificates"), TLS \(shown.version), \(verdict)"
        ]
        for certificate in certificates { lines += Table.lines(certificate.kind.rawValue, certificate.texts) }
        return lines + Table.lines("backup", backupTexts)
    }

    private var backupTexts: [String] {
        guard reason == nil else { return ["none: only what is on a trusted chain can be suggested"] }
        guard let backup else { return ["none: there is nobody above the server's own certificate"] }
        return [backup.pin, "the key of \(backup.subject); better is one of your own that no server uses yet"]
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
