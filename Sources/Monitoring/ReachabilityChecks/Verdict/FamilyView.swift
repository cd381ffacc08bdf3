import LinuxSupport
import NetworkReachability

/// The evidence of one address family.
struct FamilyView {
    let family: AddressFamily
    let evidence: CheckEvidence
    let results: [ProbeResult]

    init(_ family: AddressFamily, _ evidence: CheckEvidence) {
        self.family = family
        self.evidence = evidence
        results = evidence.valid.filter { $0.request.binding.family == family && $0.ran && !$0.isTargetName }
    }

    var gateway: IPAddress? { evidence.gateways[family] ?? evidence.path.gateway }

    // MARK: Answers

    /// The answers and errors of the gateway itself.
    var gatewayLife: [ProbeResult] {
        results.filter {
            if $0.error?.source == .gateway || $0.outcome == .refused(.gateway) { return true }
            if $0.server != nil, $0.server == gateway, $0.peerAnswered { return true }
            guard $0.kind == .gateway else { return false }
            return $0.outcome == .answered || $0.peerAnswered || $0.evidence.neighbour?.provesLife == true
        }
    }

    /// The probes of the gateway that left this machine.
    var gatewayProbes: [ProbeResult] { results.filter { $0.kind == .gateway && !$0.isRefusedHere } }

    /// True if there is no evidence about the gateway, so that silence beyond it has no known place.
    var isGatewayUnknown: Bool {
        guard let gateway, gateway.isIPv6 == (family == .ipv6) else { return false }
        return gatewayProbes.isEmpty && gatewayLife.isEmpty && lifeBeyond.isEmpty
    }

    /// The answers of routers and servers beyond the gateway.
    var lifeBeyond: [ProbeResult] {
        results.filter { result in
            if result.isHopWord { return true }
            return switch result.request.subject {
            case .line: (result.kind == .hop || result.kind == .passive) && result.outcome == .answered
            case .server(let address, _): isBeyond(address) && result.peerAnswered
            case .anchor, .target: result.peerAnswered
            case .unassigned, .inventedAddress, .portal: false
            }
        }
    }

    var hops: [ProbeResult] { results.filter { $0.kind == .hop && $0.outcome == .answered } }

    /// Returns whether a server is neither the gateway nor this machine.
    func isBeyond(_ server: IPAddress) -> Bool {
        server != gateway && server.mayBeBeyond(routerOf: evidence.path.source)
    }

    /// The results of the first query to each DNS server beyond the gateway.
    var farServers: [ProbeResult] { results.filter { $0.purpose == .known && $0.server.map(isBeyond) == true } }

    // MARK: The internet

    enum Standing { case proven, likely, half, failed, unknown }

    /// The anchors that prove internet access. All URLs of one host count as one anchor, and one success is sufficient.
    var goodAnchors: Set<String> {
        Set(
            results.compactMap { result in
                guard case .anchor(let host) = result.request.subject, result.isVerified || result.isEchoed else {
                    return nil
                }
                return host
            }
        )
    }

    /// The anchors that were probed over this family.
    var askedAnchors: Set<String> {
        Set(results.compactMap { if case .anchor(let host) = $0.request.subject { host } else { nil } })
    }

    var standing: Standing {
        let (good, asked) = (goodAnchors.count, askedAnchors.count)
        if asked > 0 { return good * 2 > asked ? .proven : good * 2 == asked ? .half : .failed }
        if farServers.contains(where: \.answersBeyondEchoes) { return .likely }
        guard !hops.isEmpty else { return results.isEmpty ? .unknown : .failed }
        // A router answers, and the DNS servers beyond it do not. If this family has no servers, those of the other family are used.
        guard farServers.isEmpty else { return .failed }
        let others = evidence.valid.filter {
            $0.ran && !$0.isRefusedHere && $0.purpose == .known && $0.server.map(isBeyond) == true
        }
        return others.isEmpty || others.contains(where: \.answersBeyondEchoes) ? .likely : .failed
    }

    /// Whether only routers were probed and did not answer. Routers may be configured not to answer.
    var isRouterSilent: Bool {
        let hasLink = results.contains { $0.evidence.neighbour.map { $0.after == .reachable } == true }
        let asked = results.contains { $0.isAnchor || $0.server != nil }
        return hasLink && !asked && gatewayLife.isEmpty && !results.contains { $0.error != nil }
    }

    var isVerified: Bool { results.contains { $0.isVerified } }
}

extension ProbeResult {
    /// True if a router beyond the gateway answered or refused.
    fileprivate var isHopWord: Bool {
        if case .hop = error?.source { request.subject != .unassigned } else { false }
    }
}

extension IPAddress {
    /// Returns whether a server with this address may be behind a router. 169.254.0.0/16 is not treated as link-local if this machine's own
    /// address is in it.
    func mayBeBeyond(routerOf source: IPAddress?) -> Bool {
        if wire.isLoopback { return false }
        return !isLinkLocal || !isIPv6 && source.map { !$0.isIPv6 && $0.isLinkLocal } == true
    }
}

/// Faults of the gateway: neither it nor any host beyond it answers.
enum GatewayStage {
    static func judge(_ view: FamilyView) -> Finding? {
        let asked = view.gatewayProbes
        let givenUp = view.results.filter(\.isNeighbourGivenUp)
        guard view.gatewayLife.isEmpty, view.lifeBeyond.isEmpty, !asked.isEmpty || !givenUp.isEmpty else { return nil }
        let name = view.gateway.map { "the gateway \($0)" } ?? "the gateway"
        let dead = asked.filter { $0.evidence.neighbour?.provesDeath == true }
        if !dead.isEmpty {
            return Finding(.gateway, .neighbourFailed, .proven, "\(name) does not answer on the link", dead)
        }
        let resolving = asked.filter { [.incomplete, .failed].contains($0.evidence.neighbour?.after) }
        if !givenUp.isEmpty || !resolving.isEmpty {
            let text = "\(name) does not answer on the link"
            return Finding(.gateway, .neighbourFailed, view.evidence.silence, text, givenUp + resolving)
        }
        return Finding(
            .gateway,
            .silent,
            view.evidence.silence,
            "\(name) is silent, and so are all hosts beyond it",
            asked
        )
    }
}

/// Access to the internet and back.
enum InternetStage {
    static func proven(_ view: FamilyView) -> Finding? {
        let anchors = view.results.filter { $0.isVerified || $0.isEchoed }
        switch view.standing {
        case .proven:
            return Finding(.works, .internetProven, .proven, "the internet answers", anchors)
        case .likely:
            let text = "hosts beyond the gateway answer; the internet itself was not probed"
            return Finding(.works, .upstreamAnswers, .likely, text, view.lifeBeyond)
        case .half:
            let text = "only half of the anchors prove internet access"
            return Finding(.inconclusive, .anchorsDisagree, .suspected, text, view.results.filter(\.isAnchor))
        case .failed, .unknown:
            return nil
        }
    }
}

/// Large packets that are lost without an error while small ones pass (RFC 2923).
enum SegmentStage {
    static func judge(_ view: FamilyView) -> Finding? {
        finding(view.results.filter { $0.isAnchor || $0.isTarget })
    }

    /// Returns the finding for a target that answers small packets while large packets to it are lost.
    ///
    /// - Parameter answer: The finding that the target answers.
    static func degraded(_ evidence: CheckEvidence, _ answer: Finding) -> Finding? {
        guard let target = evidence.target else { return nil }
        let sized = evidence.valid.filter { $0.isTarget && $0.kind == .mtu && $0.request.size != nil }
        let answered = sized.filter { $0.outcome == .answered }.compactMap(\.request.size)
        let lost = sized.filter { $0.outcome == .silent }.compactMap(\.request.size)
        // The large packets were lost in both trials, and smaller ones were answered.
        guard let passed = answered.max(), answered.count > 1, let large = lost.max(), large > passed,
            lost.count(where: { $0 == large }) > 1
        else { return nil }
        // A packet filter may drop only large echoes, but it probably drops those of 1280 bytes too.
        let confidence = passed >= 1280 ? CheckConfidence.likely : .suspected
        let text =
            "\(target.text) answers, but packets of \(large) bytes to it are lost without an error; packets of \(passed) bytes pass"
        return Finding(.degraded, .pathMTU, confidence, text, answer.evidence + sized)
    }

    static func finding(_ results: [ProbeResult]) -> Finding? {
        let small = results.filter { $0.kind == .mtu && $0.request.size == nil && $0.outcome == .answered }
        guard !small.isEmpty else { return nil }
        let size = small.compactMap(\.evidence.pathMTU).max().map { "; packets of \($0) bytes pass" } ?? ""
        let text = "large packets are lost on the path, small ones pass\(size)"
        return Finding(.upstream, .pathMTU, .proven, text, small)
    }
}

/// Interceptions of TLS, which show their own certificates.
enum TLSStage {
    static func intercepted(_ view: FamilyView) -> Finding? {
        let untrusted = view.results.filter {
            $0.isAnchor && $0.evidence.tls?.isVerified == false && $0.outcome == .invalid(.untrusted)
        }
        let issuers = Set(untrusted.map { $0.evidence.tls?.issuer })
        guard !untrusted.isEmpty, !view.isVerified, issuers.count == 1, view.standing == .proven || untrusted.count > 1
        else { return nil }
        let issuer = issuers.first.flatMap { $0 }.map { " by \($0)" } ?? ""
        let hosts = Set(untrusted.map(\.request.subject)).count
        let text = "TLS is intercepted: certificates of the anchors are issued\(issuer)"
        return Finding(.tls, .intercepted, hosts > 1 ? .proven : .likely, text, untrusted)
    }
}

/// Combines the findings of both families. If one family works, the result is degraded. If none works, the place is the farthest that
/// packets reach.
enum Families {
    static func join(_ evidence: CheckEvidence) -> Finding {
        let findings = concerned(evidence).compactMap { family in
            CheckJudge.judge(FamilyView(family, evidence)).map { (family, $0) }
        }
        // The gateway of this family was not probed, so it is only known that the link works.
        func isUnknown(_ finding: (AddressFamily, Finding)) -> Bool {
            finding.1.place == .inconclusive && FamilyView(finding.0, evidence).isGatewayUnknown
        }
        func rank(_ finding: (AddressFamily, Finding)) -> (Int, Int) {
            isUnknown(finding) ? (CheckPlace.link.distance, 0) : finding.1.rank
        }
        guard let best = findings.max(by: { rank($0) < rank($1) }) else {
            return notSent(evidence)
        }
        let worst = findings.first { $0.0 != best.0 }
        // A family without probed anchors does not outweigh one whose anchors prove nothing.
        if best.1.place == .works, FamilyView(best.0, evidence).askedAnchors.isEmpty, let worst,
            worst.1.isAboutAnchors, !FamilyView(worst.0, evidence).askedAnchors.isEmpty
        {
            return worst.1
        }
        // An interception over one family ended the round before the other family was complete.
        if best.1.place == .inconclusive, let worst, worst.1.place == .portal { return worst.1 }
        // A refusal by this machine is certain, while the other family is only silent.
        let isSilent = rank(best).0 < CheckPlace.upstream.distance || best.1.reason == .silentBeyond
        if isSilent, let worst, worst.1.reason == .firewall { return worst.1 }
        guard best.1.place == .works, let worst, worst.1.place != .works,
            worst.1.place != .inconclusive || isUnknown(worst), !FamilyView(worst.0, evidence).isRouterSilent
        else {
            return best.1
        }
        // The captive portal API applies to both families.
        if worst.1.reason == .captive { return worst.1 }
        let (name, reason): (String, ProbeReason) =
            worst.0 == .ipv4 ? ("IPv4", .ipv4Broken) : ("IPv6", .ipv6Broken)
        let text = "\(name) is broken, but the other family works; \(worst.1.place.rawValue): \(worst.1.text)"
        return Finding(.degraded, reason, worst.1.confidence, text, worst.1.evidence)
    }

    /// Returns the finding that explains why no packet was sent.
    private static func notSent(_ evidence: CheckEvidence) -> Finding {
        if let finding = LocalStage.refusal(of: evidence.valid.filter(\.isRefusedHere), to: nil) { return finding }
        let skipped = evidence.valid.filter {
            if case .skipped(let reason) = $0.outcome { reason != .notNeeded } else { false }
        }
        guard let first = skipped.first, case .skipped(let reason) = first.outcome else {
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, "no probe could be sent")
        }
        let cause =
            switch (reason, first.request.binding.mark) {
            case (.notPermitted, let mark?): "a packet with the mark \(mark) needs CAP_NET_ADMIN or CAP_NET_RAW"
            case (.notPermitted, nil): "this user is not permitted to send the probes"
            case (.noDescriptors, _): "there is no free file descriptor for a socket"
            case (.interfaceGone, _): "the network namespace no longer exists"
            case (.overBudget, _): "the send buffers are full"
            case (.reversePathFilter, _), (.notNeeded, _): reason.rawValue
            }
        let text = "no probe could be sent: \(cause)"
        return Finding(.inconclusive, ProbeReason(rawValue: reason.rawValue), .suspected, text, skipped)
    }

    /// Returns the families of the target's addresses. Without addresses, all families that have a path.
    private static func concerned(_ evidence: CheckEvidence) -> [AddressFamily] {
        let targets = evidence.valid.filter { $0.isTarget && $0.request.destination != nil }
        let asked = Set(targets.map(\.request.binding.family))
        return AddressFamily.allCases.filter { family in
            asked.isEmpty
                ? evidence.families.isEmpty || evidence.families.contains(family) : asked.contains(family)
        }
    }
}

extension Finding {
    /// The order of findings: by the distance that packets reach, and then a proof of internet access before a likely one.
    fileprivate var rank: (Int, Int) { (place.distance, reason == .internetProven ? 1 : 0) }

    /// True if the finding is about the anchors and not about the path to them.
    fileprivate var isAboutAnchors: Bool {
        [.inconclusive, .tls].contains(place) || reason == .clockWrong
            || place == .portal && evidence.allSatisfy(\.isAnchor)
    }
}
