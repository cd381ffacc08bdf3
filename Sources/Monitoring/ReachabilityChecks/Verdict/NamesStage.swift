import LinuxSupport
import NetworkReachability

/// Faults of the DNS servers, evaluated for each server.
enum NamesStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        if let finding = unexpected(evidence) { return finding }
        // A target that is an address needs no DNS server.
        if let target = evidence.target, target.name == nil { return nil }
        // The name may come from a file or a search domain.
        let isKnown = evidence.target != nil && nameService(evidence)?.outcome == .answered
        if evidence.servers?.isEmpty == true, !isKnown {
            return Finding(.dns, .noServerConfigured, .proven, "no DNS server is configured")
        }
        let asked = evidence.valid.filter { $0.kind == .dns && $0.ran }
        // A server that answers for A but not for AAAA does not fail for all names.
        let known = asked.filter { $0.purpose == .known && $0.evidence.dns?.type != .aaaa }
        if !known.isEmpty, !isKnown, known.allSatisfy({ fault($0, among: asked) != nil }) {
            // A server to which this machine refuses to send is not at fault.
            let sent = known.filter { !$0.isRefusedHere }
            if sent.isEmpty { return LocalStage.refusal(of: known, to: "DNS servers") }
            let reasons = sent.compactMap { fault($0, among: asked) }
            // An error is more precise than silence.
            let reason = reasons.first { $0 != .serverSilent } ?? .serverSilent
            if reason == .knownAnswerDiffers, let finding = inventedAddresses(asked) { return finding }
            let confidence = reason == .serverSilent ? evidence.silence : .proven
            let all = known.count > 1 ? "all DNS servers fail" : "the DNS server fails"
            return Finding(.dns, reason, confidence, "\(all): \(reason.rawValue)", known)
        }
        return inventedAddresses(asked) ?? ofTarget(evidence, asked.filter { $0.purpose == .target })
    }

    private static func inventedAddresses(_ asked: [ProbeResult]) -> Finding? {
        let invented = asked.filter { $0.purpose == .invented && $0.evidence.dns?.addresses.isEmpty == false }
        guard !invented.isEmpty else { return nil }
        let text = "a DNS server returns addresses for names that do not exist"
        return Finding(.dns, .inventsAnswers, .proven, text, invented)
    }

    /// Returns the finding for a name with expected addresses: an error of any server, or other addresses.
    static func unexpected(_ evidence: CheckEvidence, about only: String? = nil) -> Finding? {
        for (name, expected) in evidence.expectations.sorted(by: { $0.key < $1.key }) where only ?? name == name {
            let servers = expectations(evidence, name, expected)
            if let wrong = servers.lazy.compactMap(\.fault).first { return wrong }
            let silent = servers.flatMap(\.silent)
            guard !silent.isEmpty, !servers.contains(where: \.isExpected) else { continue }
            guard let reason = reason(ofSilence: silent.filter { !$0.isRefusedHere }) else {
                return LocalStage.refusal(of: silent, to: "DNS servers")
            }
            let text = "no DNS server answers for \(name): \(reason.rawValue)"
            return Finding(.dns, reason, evidence.silence, text, silent)
        }
        return nil
    }

    /// The answers of one server for a name with expected addresses.
    private struct Expectation {
        /// True if the server returned one of the expected addresses.
        var isExpected = false
        /// The questions without an answer.
        var silent: [ProbeResult] = []
        /// The finding for an error or other addresses; nil without one.
        var fault: Finding?
    }

    private static func expectations(
        _ evidence: CheckEvidence,
        _ name: String,
        _ expected: Set<IPAddress>
    ) -> [Expectation] {
        let asked = evidence.valid.filter { $0.ran && $0.kind == .dns && $0.purpose == .expected(name) }
        return asked.compactMap(\.server).uniqued.map { server in
            let results = asked.filter { $0.server == server }
            let found = results.flatMap { $0.evidence.dns?.addresses ?? [] }
            if !expected.isDisjoint(with: found) { return Expectation(isExpected: true) }
            // Only questions for a family with an expected address matter.
            let silent = results.filter { result in
                isSilence(result)
                    && (result.evidence.dns.map { facts in
                        expected.contains { $0.isIPv6 == (facts.type == .aaaa) }
                    } ?? true)
            }
            let reason = results.lazy.filter { !isSilence($0) }.compactMap { fault($0) ?? denial($0) }.first
            // A name without an address of one family proves nothing about the other family.
            if found.isEmpty, let reason, silent.isEmpty || reason != .noData {
                let text = "for \(name), the DNS server \(server) reports \(reason.rawValue)"
                return Expectation(fault: Finding(.dns, reason, .proven, text, results))
            }
            if found.isEmpty || !silent.isEmpty { return Expectation(silent: silent) }
            let list = found.map(\.description).joined(separator: ", ")
            let text = "\(name) has the addresses \(list) at the DNS server \(server), which are not the expected ones"
            return Expectation(fault: Finding(.dns, .wrongAnswer, .proven, text, results))
        }
    }

    /// Returns whether the server did not answer: it was silent, or a router or this machine refused.
    private static func isSilence(_ result: ProbeResult) -> Bool {
        switch result.outcome {
        case .silent: true
        case .unreachable(let error): error.source != .peer
        default: result.isRefusedHere
        }
    }

    /// Returns the reason for silence. A server that answers no question is silent. One that answers only for A is `unansweredAAAA`.
    private static func reason(ofSilence results: [ProbeResult]) -> ProbeReason? {
        let reasons = results.compactMap { fault($0) }
        return reasons.first { $0 != .unansweredAAAA } ?? reasons.first
    }

    private static func ofTarget(_ evidence: CheckEvidence, _ results: [ProbeResult]) -> Finding? {
        guard let name = evidence.target?.name else { return nil }
        let service = nameService(evidence)
        let addresses = results.compactMap(\.evidence.dns).flatMap(\.addresses)
        let sent = results.filter { !$0.isRefusedHere }
        if sent.isEmpty, service?.outcome != .answered,
            let finding = LocalStage.refusal(of: results, to: "DNS servers")
        {
            return finding
        }
        if addresses.isEmpty, service?.outcome != .answered,
            let reason = sent.lazy.compactMap({ fault($0) ?? denial($0) }).first
        {
            let text =
                reason == .nameNotFound
                ? "the name \(name) does not exist" : "no address of \(name): \(reason.rawValue)"
            return Finding(.dns, reason, .proven, text, results)
        }
        // A target that was probed at an address of a DNS server has its own result.
        let isProbed = service?.outcome == .silent && evidence.valid.contains { $0.isTarget && $0.ran }
        if !isProbed, let service, let reason = failure(of: service) {
            let text = "programs get no address of \(name) from this machine's name service: \(reason.rawValue)"
            return Finding(.dns, reason, .likely, text, [service])
        }
        // Servers may legitimately return different addresses, but not if the target shows a wrong certificate.
        guard evidence.valid.contains(where: { $0.isTarget && $0.evidence.tls?.isVerified == false }),
            let pair = difference(evidence)
        else { return nil }
        return Finding(.dns, .wrongAnswer, .likely, "DNS servers give different addresses of \(name)", pair)
    }

    /// Returns the answers of two servers whose addresses of the target are disjoint; nil if there are none.
    static func difference(_ evidence: CheckEvidence) -> [ProbeResult]? {
        let answers = evidence.valid.filter { $0.purpose == .target && $0.evidence.dns?.addresses.isEmpty == false }
        for one in answers {
            for other in answers where one.server != other.server && one.evidence.dns?.type == other.evidence.dns?.type
            {
                let (first, second) = (one.evidence.dns?.addresses ?? [], other.evidence.dns?.addresses ?? [])
                if Set(first).isDisjoint(with: second) { return [one, other] }
            }
        }
        return nil
    }

    /// Returns the finding that a server does not answer for a name with expected addresses, which others return.
    static func unanswered(_ evidence: CheckEvidence, _ name: String) -> Finding? {
        let silent = evidence.expectations[name].map { expectations(evidence, name, $0).flatMap(\.silent) } ?? []
        guard let server = silent.first?.server, let reason = reason(ofSilence: silent) else { return nil }
        let text = "for \(name), the DNS server \(server) does not answer, but others do: \(reason.rawValue)"
        return Finding(.degraded, reason, .likely, text, silent)
    }

    /// Returns the finding for DNS servers of which only a part works.
    static func degraded(_ evidence: CheckEvidence, _ line: Finding) -> Finding? {
        guard line.place == .works, evidence.target == nil else { return nil }
        let known = evidence.valid.filter { $0.kind == .dns && $0.purpose == .known && $0.ran }
        let broken = known.filter { fault($0, among: known) != nil }
        if let first = broken.first, let reason = fault(first) {
            let name = first.server.map { "the DNS server \($0)" } ?? "a DNS server"
            return Finding(.degraded, reason, .likely, "\(name) fails, but others work: \(reason.rawValue)", broken)
        }
        if let finding = evidence.expectations.keys.sorted().lazy.compactMap({ unanswered(evidence, $0) }).first {
            return finding
        }
        let slow = known.filter { $0.evidence.firstAnswer.map { $0 > .milliseconds(1500) } == true }
        guard !known.isEmpty, slow.count == known.count else { return nil }
        return Finding(.degraded, .slow, .likely, "DNS answers slowly", slow)
    }

    /// Returns the result of the lookup of the target's name.
    private static func nameService(_ evidence: CheckEvidence) -> ProbeResult? {
        evidence.valid.first { $0.isTargetName && $0.ran }
    }

    private static func failure(of service: ProbeResult) -> ProbeReason? {
        switch service.outcome {
        case .invalid(let reason): reason
        case .silent: .temporaryFailure
        default: nil
        }
    }

    /// Returns the fault that a result shows; nil for none.
    static func fault(_ result: ProbeResult) -> ProbeReason? {
        switch result.outcome {
        case .silent:
            // A server that answers only for A is not silent.
            result.evidence.dns?.type == .aaaa ? .unansweredAAAA : .serverSilent
        case .refused: .serverClosed
        case .unreachable(let error): error.source == .peer ? .serverClosed : .serverUnreachable
        case .invalid(let reason): reason
        case .blockedHere(let number): ProbeReason(refusal: number)
        case .answered: failure(result.evidence.dns?.code) ?? mistake(result)
        case .skipped, .cancelled: nil
        }
    }

    /// Returns the fault that a result shows. Silence is a fault only if the server answers no other question, because packets can get
    /// lost.
    private static func fault(_ result: ProbeResult, among asked: [ProbeResult]) -> ProbeReason? {
        let reason = fault(result)
        guard reason == .serverSilent else { return reason }
        return asked.contains { $0.server == result.server && $0.outcome == .answered } ? nil : reason
    }

    private static func failure(_ code: DNSResponseCode?) -> ProbeReason? {
        switch code {
        case .serverFailure: .serverFailed
        case .refused: .serverRefused
        case .formatError, .notImplemented: .serverFailed
        default: nil
        }
    }

    /// Returns the fault of a server that does not return the fixed addresses of `ipv4only.arpa`.
    private static func mistake(_ result: ProbeResult) -> ProbeReason? {
        guard result.purpose == .known, let facts = result.evidence.dns, facts.type == .a, !facts.isTruncated,
            facts.addresses.isEmpty || DNSFacts.fixedAddresses.isDisjoint(with: facts.addresses)
        else { return nil }
        if facts.isBlocked { return .blockedByPolicy }
        return facts.addresses.isEmpty && !facts.isRecursive ? .notRecursive : .knownAnswerDiffers
    }

    private static func denial(_ result: ProbeResult) -> ProbeReason? {
        guard let facts = result.evidence.dns, facts.addresses.isEmpty else { return nil }
        if facts.isBlocked { return .blockedByPolicy }
        if facts.code == .nameError { return .nameNotFound }
        // A name may have no address of one family.
        return facts.type == .a ? .noData : nil
    }
}

extension [IPAddress] {
    /// The elements without duplicates.
    fileprivate var uniqued: [IPAddress] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
