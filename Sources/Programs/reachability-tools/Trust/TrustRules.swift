import CommandLineSupport
import LinuxSupport
import Netlink
import ServerTrust
import ServerTrustNIO

/// The rules for a server: a policy file, or without one a valid chain and the host.
struct TrustRules: Sendable {
    private let path: String?
    private let file: TrustPolicyFile?
    private let manager: ServerTrustManager
    private let configuration: TrustConfiguration
    private let revocation: RevocationRecorder
    /// Pins that did not match and are only reported.
    private let reports = Locked<Set<PinReport>>([])

    /// - Throws: An error if a file cannot be read or is wrong.
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
                throw ExitMessage("the policy file names anchors of its own: leave --anchors away, or them", .usage)
            }
            configuration.anchors = try AnchorFile.read(anchors)
        }
        configuration.logger = .silent
        revocation = RevocationRecorder(try Self.checker(file, configuration))
        configuration.revocation = revocation
        self.configuration = configuration
    }

    /// Uses the network only if a policy of the file does.
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
            throw ExitMessage("cannot ask about revocation: \(error)", .unavailable)
        }
    }

    /// Applies the configuration of the file to a trust.
    func prepare(_ trust: inout ServerTrust) {
        trust.anchors = configuration.anchors
        trust.revocationLists = configuration.revocationLists
        trust.revocation = configuration.revocation
        trust.logger = configuration.logger
        // Every check below uses the same chain.
        trust.cache = ValidatedChainCache()
    }

    func judge(_ trust: ServerTrust, forHost host: String) async -> TrustJudgement {
        var reason: TrustFailure?
        do {
            try await manager.evaluateOnline(trust, forHost: host)
        } catch {
            reason = error.reason
        }
        // An invalid chain is not a failure if the policy accepts it.
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

    /// The policy for the host, and its origin.
    private func policyCheck(_ pattern: String?, _ reason: TrustFailure?) -> TrustCheck {
        guard let path else { return TrustCheck("policy", .ok, "no policy file: a valid chain, and the host") }
        if let pattern { return TrustCheck("policy", .ok, "\(pattern) in \(path)") }
        guard case .noEvaluator = reason else {
            return TrustCheck("policy", .ok, "none for the host in \(path): a valid chain, and the host")
        }
        return TrustCheck("policy", .failed, "none for the host in \(path), and allHostsMustBeEvaluated is true")
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
                    "none of the pins is on the chain, and that is only reported: \(entry.summary)"
                )
            ]
        }
        return [TrustCheck(name, entry.kind == .disabled ? .note : .ok, entry.summary)] + unknown()
    }

    /// The certificates with unknown revocation, and the reasons.
    private func unknown(besides told: TrustFailure? = nil) -> [TrustCheck] {
        revocation.doubts.compactMap { certificate, doubt in
            if case .revocationUnknown(certificate.description, doubt)? = told { return nil }
            return TrustCheck("revocation", .note, "not known of \(certificate): \(doubt)")
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

/// Uses a checker, and records the certificates with unknown revocation, which an evaluator that does not require an answer does not
/// report.
final class RevocationRecorder: RevocationChecking {
    typealias Doubts = [(certificate: TrustCertificate, doubt: RevocationDoubt)]

    /// The doubts of the last chain, beginning with the server's own certificate.
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
