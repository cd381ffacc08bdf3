import CommandLineSupport
import LinuxSupport
import Netlink
import ServerTrust
import ServerTrustNIO

/// The rules for a server: those of a policy file. Without a file, a valid chain and the name are required.
struct TrustRules: Sendable {
    private let path: String?
    private let file: TrustPolicyFile?
    private let manager: ServerTrustManager
    private let configuration: TrustConfiguration
    private let revocation: RevocationRecorder
    /// The pins that did not match and are only reported.
    private let reports = Locked<Set<PinReport>>([])

    /// Creates the rules from files.
    ///
    /// - Throws: An error if a file cannot be read or is invalid.
    init(policyFile path: String?, anchors: String?) throws {
        self.path = path
        let reports = reports
        file = try path.map { path in
            try TrustPolicyFile(path: path) { report in reports.withLock { _ = $0.insert(report) } }
        }
        manager = file?.manager() ?? ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        var configuration = file?.configuration ?? TrustConfiguration()
        if let anchors {
            guard file?.anchors == nil else {
                throw ExitMessage("cannot use --anchors: the policy file has anchors; remove one of them", .usage)
            }
            configuration.anchors = try AnchorFile.read(anchors)
        }
        configuration.logger = .silent
        revocation = RevocationRecorder(try Self.checker(file, configuration))
        configuration.revocation = revocation
        self.configuration = configuration
    }

    /// Creates the revocation checker. It uses the network only if a policy of the file requires it.
    private static func checker(
        _ file: TrustPolicyFile?,
        _ configuration: TrustConfiguration
    ) throws(ExitMessage) -> RevocationChecker {
        guard let file, file.policies.values.joined().contains(where: { $0.kind == .revocation }) else {
            return RevocationChecker()
        }
        do {
            let fetcher = try HTTPRevocationFetcher(configuration: configuration)
            return RevocationChecker(fetcher: fetcher)
        } catch {
            throw ExitMessage("cannot check revocation: \(error)", .unavailable)
        }
    }

    /// Applies the configuration to the trust of a server.
    func prepare(_ trust: inout ServerTrust) {
        trust.anchors = configuration.anchors
        trust.revocationLists = configuration.revocationLists
        trust.revocation = configuration.revocation
        trust.logger = configuration.logger
        // All checks below use the same chain.
        trust.cache = ValidatedChainCache()
    }

    func judge(_ trust: ServerTrust, forHost host: String) async -> TrustJudgement {
        var reason: TrustFailure?
        do {
            try await manager.evaluateOnline(trust, forHost: host)
        } catch {
            reason = error.reason
        }
        // If the policy accepts the server, an invalid chain is not a failure.
        let broken: TrustCheck.State = reason == nil ? .note : .failed
        var checks: [TrustCheck] = []
        var chain: ValidatedChain?
        do {
            let valid = try trust.validatedChain(forHost: host, validateHost: false)
            chain = valid
            checks.append(
                TrustCheck("chain", .ok, "to the anchor \(valid.anchor), valid until \(valid.validity.upperBound)")
            )
        } catch {
            checks.append(TrustCheck("chain", broken, "\(error.reason)"))
        }
        do {
            try trust.validate(host: host)
            checks.append(TrustCheck("host", .ok, "the certificate is for \(host)"))
        } catch {
            checks.append(TrustCheck("host", broken, "\(error.reason)"))
        }
        let pattern = (try? file?.pattern(forHost: host)) ?? nil
        checks.append(policyCheck(pattern, reason))
        let entries = pattern.flatMap { file?.policies[$0] } ?? []
        for entry in entries { checks += await self.checks(of: entry, trust, host) }
        return TrustJudgement(reason: reason, chain: chain, pattern: pattern, checks: checks)
    }

    /// Returns the check that names the policy for the host and its origin.
    private func policyCheck(_ pattern: String?, _ reason: TrustFailure?) -> TrustCheck {
        guard let path else {
            return TrustCheck("policy", .ok, "no policy file: a valid chain and the name are required")
        }
        if let pattern { return TrustCheck("policy", .ok, "\(pattern) in \(path)") }
        guard case .noEvaluator = reason else {
            return TrustCheck(
                "policy",
                .ok,
                "no entry for the host in \(path): a valid chain and the name are required"
            )
        }
        return TrustCheck("policy", .failed, "no entry for the host in \(path), and allHostsMustBeEvaluated is true")
    }

    private func checks(of entry: TrustPolicyEntry, _ trust: ServerTrust, _ host: String) async -> [TrustCheck] {
        let name = entry.kind.rawValue
        reports.withLock { $0 = [] }
        revocation.forget()
        do {
            try await entry.evaluator.evaluateOnline(trust, forHost: host)
        } catch {
            return [TrustCheck(name, .failed, "\(error.reason)")] + unknown(besides: error.reason)
        }
        if reports.withLock({ !$0.isEmpty }) {
            return [
                TrustCheck(
                    name,
                    .note,
                    "no pin matches the chain, which is only reported: \(entry.summary)"
                )
            ]
        }
        return [TrustCheck(name, entry.kind == .disabled ? .note : .ok, entry.summary)] + unknown()
    }

    /// Returns a note for each certificate with unknown revocation, except if the failure already reports it.
    private func unknown(besides reported: TrustFailure? = nil) -> [TrustCheck] {
        revocation.doubts.compactMap { certificate, doubt in
            if case .revocationUnknown(certificate.description, doubt)? = reported { return nil }
            return TrustCheck("revocation", .note, "unknown for \(certificate): \(doubt)")
        }
    }
}

extension TrustPolicyFileError: ExitError {
    var exitMessage: ExitMessage {
        let status: ExitMessage.Status =
            switch self {
            case .unreadable, .unreadableFile: .noInput
            case .wrong: .dataError
            }
        return ExitMessage(description.printable, status)
    }
}

/// Wraps a revocation checker, and records the certificates with unknown revocation. An evaluator that requires no answer does not report
/// them.
final class RevocationRecorder: RevocationChecking {
    typealias Doubts = [(certificate: TrustCertificate, doubt: RevocationDoubt)]

    /// The certificates of the last chain with unknown revocation, from the server's own certificate on.
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
