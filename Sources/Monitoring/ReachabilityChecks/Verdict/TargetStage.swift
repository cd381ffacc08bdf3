import LinuxSupport
import NetworkReachability

/// The state of the target.
enum TargetStage {
    /// Returns the finding that the target answers; nil if it does not.
    static func answers(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        let captive = captiveFamilies(evidence)
        let answers = evidence.valid.filter { result in
            let isAsked = result.isTarget || target.decisive == .resolve && result.isTargetName
            guard isAsked, result.ran else { return false }
            // A captive portal can answer in place of other hosts, but not with their certificates.
            if captive.contains(result.request.binding.family), !result.isVerified { return false }
            guard let decisive = target.decisive else {
                return result.outcome == .answered || result.outcome == .refused(.peer)
            }
            return (result.kind == decisive || decisive == .echo && result.isEcho) && result.outcome == .answered
        }
        if answers.isEmpty { return otherLife(evidence, captive) }
        // A host that answers at a wrong address of the name is not the target.
        if let name = target.name, let finding = NamesStage.unexpected(evidence, about: name) { return finding }
        return Finding(.works, .targetAnswers, .proven, "\(target.text) answers", answers)
    }

    /// Returns the finding for a target that answers over one family and from which nothing is received over the other. A refused
    /// connection is an answer, because a service may listen on one family only.
    ///
    /// - Parameter answer: The finding that the target answers.
    static func silentFamily(_ evidence: CheckEvidence, _ answer: Finding) -> Finding? {
        guard evidence.comparesFamilies, let target = evidence.target else { return nil }
        let known = Set(answer.evidence.map(\.request.binding.family))
        for family in AddressFamily.allCases where !known.contains(family) {
            let results = evidence.valid.filter {
                $0.isTarget && $0.ran && $0.kind != .mtu && $0.request.binding.family == family
            }
            if results.isEmpty || results.contains(where: { $0.outcome == .answered || $0.peerAnswered }) { continue }
            let (lost, other) = family == .ipv4 ? ("IPv4", "IPv6") : ("IPv6", "IPv4")
            let isProven = results.contains { $0.word != nil }
            return Finding(
                .degraded,
                family == .ipv4 ? .ipv4Broken : .ipv6Broken,
                isProven ? .proven : evidence.silence,
                "\(target.text) answers over \(other), but not over \(lost)",
                answer.evidence + results
            )
        }
        return nil
    }

    /// Returns the finding for a target whose certificate expires soon. The target still works, so it is degraded.
    ///
    /// - Parameter answer: The finding that the target answers.
    static func expiring(_ evidence: CheckEvidence, _ answer: Finding) -> Finding? {
        guard let target = evidence.target, let limits = target.certificateDays,
            let days = answer.evidence.compactMap(\.evidence.tls?.daysLeft).min(), days < limits.warn
        else { return nil }
        let isUrgent = limits.alert.map { days < $0 } ?? false
        // The days are rounded down: -1 is the day after the end.
        let (count, isOver) = (days < 0 ? -1 - days : days, days < 0)
        let time = count < 1 ? "less than a day" : "\(count) \(isOver ? "" : "more ")day\(count == 1 ? "" : "s")"
        let text = "the certificate of \(target.text) \(isOver ? "expired \(time) ago" : "is valid for \(time)")"
        let reason = isUrgent ? ProbeReason.certificateNearlyExpired : .certificateExpiring
        return Finding(.degraded, reason, .proven, isUrgent ? "\(text); renew it now" : text, answer.evidence)
    }

    /// Returns the finding for a target that answered any other packet of the round, if echoes are not permitted. A gateway limits its
    /// errors, but may answer in its role as a gateway or a DNS server.
    private static func otherLife(_ evidence: CheckEvidence, _ captive: Set<AddressFamily>) -> Finding? {
        guard let target = evidence.target, target.decisive == .echo else { return nil }
        let asked = evidence.valid.filter { $0.isTarget && $0.kind == .udp && $0.outcome == .silent }
        let addresses = Set(asked.compactMap(\.request.destination))
        let life = evidence.valid.filter { result in
            result.ran && !captive.contains(result.request.binding.family)
                && result.source.map(addresses.contains) == true
        }
        guard !life.isEmpty else { return nil }
        let text = "\(target.text) answers other packets; echoes are not permitted on this machine"
        return Finding(.works, .targetAnswers, .likely, text, asked + life)
    }

    /// Returns whether an interception may have answered in place of the target. A connection, a page or an echo does not exclude it, and
    /// it was not tested yet.
    static func isDoubtful(_ evidence: CheckEvidence) -> Bool {
        guard evidence.sharesLine, let target = evidence.target, [nil, .tcp, .http, .ssh].contains(target.decisive),
            let finding = answers(evidence), finding.place == .works
        else { return false }
        let families = Set(finding.evidence.filter { !$0.isVerified }.map(\.request.binding.family))
        let known = Set(
            evidence.valid.filter { $0.ran && ($0.request.subject == .unassigned || $0.isAnchor && $0.isVerified) }
                .map(\.request.binding.family)
        )
        return finding.evidence.allSatisfy { !$0.isVerified } && !families.isSubset(of: known)
    }

    /// Returns the families over which an interception answers and no anchor proves that connections to other hosts pass.
    private static func captiveFamilies(_ evidence: CheckEvidence) -> Set<AddressFamily> {
        guard evidence.sharesLine else { return [] }
        let captive = evidence.valid.filter(\.looksCaptive).map(\.request.binding.family)
        let proven = evidence.valid.filter { $0.isAnchor && $0.isVerified }.map(\.request.binding.family)
        return Set(captive).subtracting(proven)
    }

    /// Returns the finding for a target that fails. The uplink works, so the fault is at the target.
    static func fails(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        let results = evidence.valid.filter { $0.isTarget && $0.ran }
        if let finding = refusedHere(evidence) ?? SegmentStage.finding(results) ?? ofTLS(target, results)
            ?? ofNames(target, results) ?? ofService(target, results) ?? ofHost(target, results)
        {
            return finding
        }
        let silent = results.filter { $0.outcome == .silent }
        // The kernel reports packets that a tunnel did not accept (no peer, no policy) in the same way as an unresolved neighbour.
        let isGivenUp = !results.isEmpty && results.allSatisfy(\.isNeighbourGivenUp)
        if isGivenUp, let finding = TunnelStage.silence(of: target, evidence, results) { return finding }
        if !silent.isEmpty {
            if let finding = TunnelStage.silence(of: target, evidence, silent) { return finding }
            let text = "\(target.text) is silent, but the internet answers"
            return Finding(.host, .silent, evidence.silence, text, silent)
        }
        return Finding(.inconclusive, .notEnoughEvidence, .suspected, "\(target.text) could not be probed", results)
    }

    /// Returns the finding that this machine refuses to send packets to the target.
    static func refusedHere(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        // An echo proves nothing about a port to which this machine refuses to send.
        let isPort = target.decisive != nil && target.decisive != .echo
        let results = evidence.valid.filter { $0.isTarget && $0.ran && !(isPort && $0.isEcho) }
        let refused = results.filter(\.isRefusedHere)
        guard !refused.isEmpty, !results.contains(where: \.peerAnswered) else { return nil }
        return LocalStage.refusal(of: refused, to: target.text)
    }

    private static func ofTLS(_ target: CheckTarget, _ results: [ProbeResult]) -> Finding? {
        for result in results where result.kind == .tls {
            if case .invalid(let reason) = result.outcome,
                result.evidence.tls != nil || result.evidence.detail != nil || reason != .closedDuringHandshake,
                result.failedPhase != .request || reason == .startTLSRefused
            {
                let fault = result.evidence.detail ?? result.faultOfTLS ?? reason.rawValue
                return Finding(.tls, reason, .proven, "TLS with \(target.text) fails: \(fault)", [result])
            }
        }
        return nil
    }

    /// Returns the finding for a target that is a DNS server and does not answer as one.
    private static func ofNames(_ target: CheckTarget, _ results: [ProbeResult]) -> Finding? {
        let asked = results.filter { $0.kind == .dns }
        let isThere = results.contains { $0.isEcho && $0.outcome == .answered }
        guard let result = asked.first(where: { $0.outcome != .silent || isThere }),
            result.error == nil, let reason = NamesStage.fault(result)
        else { return nil }
        let fault = asked.lazy.compactMap(\.evidence.detail).first ?? reason.rawValue
        return Finding(.dns, reason, .proven, "\(target.text): \(fault)", results)
    }

    private static func ofService(_ target: CheckTarget, _ results: [ProbeResult]) -> Finding? {
        for result in results {
            switch result.outcome {
            // The server is there, and more requests would prolong the refusal.
            case .invalid(.retryAfter):
                let text = "\(target.text) limits the rate of requests and did not answer this one"
                return Finding(.inconclusive, .retryAfter, .proven, text, [result])
            case .invalid(let reason):
                let text = "\(target.text) gives a wrong answer: \(result.evidence.detail ?? reason.rawValue)"
                return Finding(.service, reason, .proven, text, [result])
            case .refused(.peer), .refused(.unknown):
                return Finding(.service, .refused, .proven, "\(target.text) refuses the connection", [result])
            case .silent where result.phases[.connect] != nil:
                return Finding(
                    .service,
                    result.failedPhase == .tls ? .handshakeSilent : .stalled,
                    .proven,
                    "\(target.text) accepts the connection and sends nothing",
                    [result]
                )
            default: continue
            }
        }
        return nil
    }

    private static func ofHost(_ target: CheckTarget, _ results: [ProbeResult]) -> Finding? {
        // This machine's report about an unresolved neighbour is not an answer of the target.
        if let result = results.first(where: { $0.error != nil && !$0.isNeighbourGivenUp }), let error = result.error {
            let itself = error.source == .peer || error.sender == result.request.destination
            let gateway = error.source == .gateway && [.prohibited, .noRouteBeyond].contains(error.reason)
            let who =
                itself ? "\(target.text) itself" : "\(error.sender)\(error.source == .gateway ? " (gateway)" : "")"
            let text = "\(who) reports \(error.reason.rawValue)"
            return Finding(gateway ? .upstream : .host, error.reason, .proven, text, [result])
        }
        let echoes = results.filter { $0.isEcho && $0.outcome == .answered }
        let silent = results.filter { !$0.isEcho && $0.outcome == .silent }
        guard !echoes.isEmpty, !silent.isEmpty else { return nil }
        let text = "\(target.text) answers echoes, but its port is silent"
        return Finding(.host, .portFiltered, .likely, text, echoes + silent)
    }
}

extension ProbeResult {
    /// The fault of a failed handshake as a part of a sentence, with the issuer of an untrusted certificate. Nil for another result.
    var faultOfTLS: String? {
        guard kind == .tls, case .invalid(let reason) = outcome else { return nil }
        let issuer = reason == .untrusted ? evidence.tls?.issuer : nil
        return reason.rawValue + (issuer.map { ", issued by \($0)" } ?? "")
    }
}
