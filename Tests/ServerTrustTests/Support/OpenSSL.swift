import NetworkLab
import ServerTrust
import Synchronization
import Testing
import TrustForge

/// The command `openssl verify` with its strictest options.
enum OpenSSL {
    /// Whether the command is installed. Without it the tests that need it are skipped.
    static let isInstalled: Bool = {
        (try? LabProcess("openssl", ["version"]).wait().status) == 0
    }()

    /// Returns whether openssl accepts the chain for the host.
    static func accepts(_ trust: TrustCase) throws -> Bool {
        let directory = ScratchDirectory()
        let anchors = try directory.write("anchors.pem", PEM.text(trust.anchors.map(\.derRepresentation)))
        let others = try directory.write("others.pem", PEM.text(Array(trust.sent.dropFirst())))
        let leaf = try directory.write("leaf.pem", PEM.text(Array(trust.sent.prefix(1))))
        var arguments = [
            "verify", "-purpose", "sslserver", "-auth_level", "2", "-partial_chain", "-no-CApath", "-no-CAstore",
            "-attime", String(trust.time.secondsSinceEpoch), "-CAfile", anchors,
        ]
        if trust.sent.count > 1 { arguments += ["-untrusted", others] }
        let isAddress = (try? ServerHost(trust.host).isAddress) ?? false
        let host = (try? ServerHost(trust.host).description) ?? trust.host
        arguments += [isAddress ? "-verify_ip" : "-verify_hostname", host, leaf]
        return try LabProcess("openssl", arguments).wait().status == 0
    }
}
