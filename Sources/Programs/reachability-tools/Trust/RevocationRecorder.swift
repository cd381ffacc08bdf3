import LinuxSupport
import ServerTrust

/// Asks a checker, and keeps of which certificates it could not be learnt whether they are revoked: an evaluator that does not require
/// an answer tells nobody.
final class RevocationRecorder: RevocationChecking {
    typealias Doubts = [(certificate: TrustCertificate, doubt: RevocationDoubt)]

    /// Of the last chain that was asked about, the server's own certificate first.
    var doubts: Doubts { content.withLock { $0 } }

    private let checker: RevocationChecker
    private let content = Locked<Doubts>([])

    init(_ checker: RevocationChecker) {
        self.checker = checker
    }

    func forget() {
        content.withLock { $0 = [] }
    }

    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus {
        checker.knownStatus(of: chain, in: trust, flags: flags)
    }

    func status(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) async -> RevocationStatus {
        let findings = await checker.findings(of: chain, in: trust, flags: flags)
        let doubts: Doubts = findings.compactMap { certificate, finding in
            guard case .unknown(let obstacles) = finding else { return nil }
            return (certificate, RevocationDoubt(obstacles))
        }
        content.withLock { $0 = doubts }
        return RevocationChecker.status(findings)
    }
}
