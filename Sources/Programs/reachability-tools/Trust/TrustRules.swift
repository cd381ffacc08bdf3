import CommandLineSupport
import LinuxSupport
import Netlink
import ServerTrust
import ServerTrustNIO

/// By what a server is judged: a policy file, or without one a valid chain and the host.
struct TrustRules: Sendable {
    private let path: String?
    private let file: TrustPolicyFile?
    private let manager: ServerTrustManager
    private let configuration: TrustConfiguration
    private let revocation: RevocationRecorder
    /// Pins that did not match and only report.
    private let reports = Locked<Set<PinReport>>([])

    /// - Throws: ``ExitMessage`` when the file cannot be read, or is wrong.
    init(policyFile path: String?, anchors: String?) throws(ExitMessage) {
        self.path = path
        do {
            let reports = reports
            file = try path.map { path throws(TrustPolicyFileError) in
                try TrustPolicyFile(path: path) { report in reports.withLock { _ = $0.insert(report) } }
            }
        } catch {
            throw ExitMessage(error)
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

    /// Asks over the network only where a policy of the file does.
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

    /// Gives a trust what the file says.
    func prepare(_ trust: inout ServerTrust) {
        trust.anchors = configuration.anchors
        trust.revocationLists = configuration.revocationLists
        trust.revocation = configuration.revocation
        trust.logger = configuration.logger
        // Every check below looks at the same chain.
        trust.cache = ValidatedChainCache()
    }

    func judge(_ trust: ServerTrust, forHost host: String) async -> TrustJudgement {
        var reason: TrustFailure?
        do {
            try await manager.evaluateOnline(trust, forHost: host)
        } catch {
            reason = error.reason
        }
        // What is wrong with the chain, where the policy does not ask for one, is no failure.
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

    /// Which policies count, and why.
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

    /// Of which certificates it is not known whether they are revoked, and why.
    private func unknown(besides told: TrustFailure? = nil) -> [TrustCheck] {
        revocation.doubts.compactMap { certificate, doubt in
            if case .revocationUnknown(certificate.description, doubt)? = told { return nil }
            return TrustCheck("revocation", .note, "not known of \(certificate): \(doubt)")
        }
    }
}

extension ExitMessage {
    init(_ error: TrustPolicyFileError) {
        let status: Status =
            switch error {
            case .unreadable, .unreadableFile: .noInput
            case .wrong: .dataError
            }
        self.init(error.description.printable, status)
    }
}
