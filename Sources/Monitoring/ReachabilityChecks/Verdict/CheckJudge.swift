import LinuxSupport
import NetworkReachability

/// Finds the place of the fault. It is a pure function with consecutive stages, from near to far.
enum CheckJudge {
    /// Returns the verdict for any evidence.
    static func judge(_ evidence: CheckEvidence) -> CheckVerdict {
        let notes = Notes.of(evidence)
        if let finding = KernelStage.judge(evidence) ?? TargetStage.answers(evidence)
            ?? KernelStage.conflict(evidence)
        {
            guard finding.place == .works else { return CheckVerdict(finding, notes: notes) }
            let partial =
                TargetStage.silentFamily(evidence, finding) ?? SegmentStage.degraded(evidence, finding)
                ?? evidence.target?.name.flatMap { NamesStage.unanswered(evidence, $0) }
                ?? TargetStage.expiring(evidence, finding)
            return CheckVerdict(partial ?? finding, notes: notes)
        }
        if evidence.isOnLink, let finding = NeighbourStage.judge(evidence) {
            return CheckVerdict(finding, notes: notes)
        }
        if let underlay = evidence.underlay.first, let finding = UnderlayStage.judge(evidence, underlay) {
            return CheckVerdict(finding, notes: notes)
        }
        let joined = Families.join(evidence)
        let line = TunnelStage.undecided(evidence, joined) ?? joined
        // A refusal by the target proves the path, unless no anchor answers: then an interception may have refused.
        let anchors = evidence.valid.filter(\.isAnchor)
        let isAnchorAlive = anchors.isEmpty || anchors.contains(where: \.peerAnswered)
        let hasTargetAnswered =
            (line.isOpen || [.inconclusive, .upstream].contains(line.place)) && isAnchorAlive
            && evidence.target != nil && evidence.valid.contains { $0.isTarget && $0.peerAnswered }
        if line.place != .works && line.place != .degraded && !hasTargetAnswered {
            // Of two faults, the nearer one is reported.
            let finding = TargetStage.refusedHere(evidence) ?? (line.isOpen ? NamesStage.judge(evidence) : nil)
            return CheckVerdict(finding ?? line, notes: notes)
        }
        // The uplink works, so the fault is beyond it.
        let finding = NamesStage.judge(evidence) ?? TargetStage.fails(evidence) ?? NamesStage.degraded(evidence, line)
        return CheckVerdict(finding ?? line, notes: notes)
    }

    /// Evaluates one family up to the internet. Nil if no packet was sent.
    static func judge(_ view: FamilyView) -> Finding? {
        let hasLine = view.evidence.families.contains(view.family)
        if view.results.isEmpty || !hasLine && view.results.allSatisfy(\.isRefusedByRoute) { return nil }
        return LocalStage.refuses(view)
            ?? LocalStage.dropsAnswers(view)
            ?? PortalStage.judge(view)
            ?? LocalStage.clock(view)
            ?? LocalStage.filtersTCP(view)
            ?? TLSStage.intercepted(view)
            ?? InternetStage.proven(view)
            ?? SegmentStage.judge(view)
            ?? GatewayStage.judge(view)
            ?? UpstreamStage.word(view)
            ?? AnchorStage.unproven(view)
            ?? LocalStage.refusesBeyond(view)
            ?? UpstreamStage.silence(view)
    }
}

/// A target on the link. Faults beyond the gateway do not affect it.
private enum NeighbourStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        let results = evidence.valid.filter { $0.isTarget && $0.ran }
        // If the target is the gateway and the gateway is down, the finding is the same as for targets beyond it.
        for view in AddressFamily.allCases.map({ FamilyView($0, evidence) }) {
            guard let gateway = view.gateway, results.contains(where: { $0.request.destination == gateway }) else {
                continue
            }
            if let finding = GatewayStage.judge(view) { return finding }
        }
        let givenUp = results.filter(\.isNeighbourGivenUp)
        if !givenUp.isEmpty, !results.contains(where: \.peerAnswered) {
            let text = "\(target.text) does not answer on the link"
            return Finding(.host, .neighbourFailed, .proven, text, givenUp)
        }
        return TargetStage.fails(evidence)
    }
}

/// The path below a tunnel. A tunnel works only if the path to its far end works.
private enum UnderlayStage {
    static func judge(_ evidence: CheckEvidence, _ underlay: CheckEvidence) -> Finding? {
        let verdict = CheckJudge.judge(underlay)
        guard ![.works, .degraded, .inconclusive].contains(verdict.failurePoint) else { return nil }
        let line = Families.join(evidence)
        // An answer through the tunnel proves the path below it.
        guard line.place != .works, line.place != .degraded else { return nil }
        let (upper, lower) = (evidence.path.interface, underlay.path.interface)
        let way = upper.map { one in " (via \(one.name)\(lower.map { " over \($0.name)" } ?? ""))" } ?? ""
        // Beyond the gateway only the far end is probed, so a broken path is as likely as a machine that is down.
        let place =
            verdict.failurePoint == .host || verdict.failurePoint == .service
            ? CheckPlace.upstream : verdict.failurePoint
        return Finding(place, verdict.reason, verdict.confidence, verdict.text + way, verdict.evidence)
    }
}

/// Silence behind a tunnel. It proves nothing about the provider, unless the path to the far end was probed and works.
enum TunnelStage {
    /// Returns the finding that replaces a finding about a silent uplink. Nil if that finding stays valid.
    fileprivate static func undecided(_ evidence: CheckEvidence, _ line: Finding) -> Finding? {
        // Without a default route, the line is known only from probes of the target.
        let isAboutTarget = line.evidence.allSatisfy(\.isTarget)
        guard let tunnel = evidence.tunnel ?? (isAboutTarget ? evidence.path.tunnel : nil),
            [.gateway, .upstream].contains(line.place),
            [.silent, .silentBeyond, .neighbourFailed].contains(line.reason), !isExamined(evidence)
        else { return nil }
        return silence(behind: tunnel, line.reason, line.evidence)
    }

    /// Returns the finding for a target behind a tunnel that is silent while the uplink is another path. Nil for another target.
    static func silence(of target: CheckTarget, _ evidence: CheckEvidence, _ results: [ProbeResult]) -> Finding? {
        guard !evidence.sharesLine, let tunnel = evidence.path.tunnel else { return nil }
        return silence(behind: tunnel, .silent, results)
    }

    private static func silence(
        behind tunnel: NetworkInterface,
        _ reason: ProbeReason,
        _ results: [ProbeResult]
    ) -> Finding {
        let text = "nothing answers through the tunnel \(tunnel.name), and the path to its far end is unknown"
        return Finding(.inconclusive, reason, .suspected, text, results)
    }

    private static func isExamined(_ evidence: CheckEvidence) -> Bool {
        evidence.underlay.contains { [.works, .degraded].contains(CheckJudge.judge($0).failurePoint) }
    }
}

/// Observations that do not affect the verdict.
private enum Notes {
    static func of(_ evidence: CheckEvidence) -> [String] {
        let results = evidence.valid
        var notes: [String] = []
        if results.contains(where: { $0.kind == .gateway && $0.outcome == .silent }) { notes.append("gatewayDeaf") }
        let proxy = results.contains {
            $0.request.subject == .unassigned && $0.evidence.http.map { $0.status >= 400 && $0.status != 511 } == true
        }
        if proxy { notes.append("transparentProxy") }
        let asked = results.filter(\.isAnchor)
        if !asked.isEmpty, !asked.contains(where: { $0.isVerified || $0.isEchoed }) { notes.append("internetUnproven") }
        if asked.contains(where: { $0.isVerified && ($0.evidence.http?.status ?? 0) >= 500 }) {
            notes.append("anchorsIll")
        }
        if !evidence.restingAnchors.isEmpty { notes.append(ProbeReason.retryAfter.rawValue) }
        if results.contains(where: \.looksCaptive) { notes.append("captive") }
        if !evidence.duplicates.isEmpty { notes.append(ProbeReason.addressConflict.rawValue) }
        let redirects = results.contains {
            $0.isTarget && $0.evidence.http.map { 300..<400 ~= $0.status && $0.location != nil } == true
        }
        if redirects { notes.append(ProbeReason.redirected.rawValue) }
        if NamesStage.difference(evidence) != nil { notes.append(ProbeReason.answersDiffer.rawValue) }
        if evidence.lacksPermission { notes.append(ProbeReason.notPermitted.rawValue) }
        return notes
    }
}

/// Faults that the kernel reports without a packet.
enum KernelStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        guard evidence.path.status == .notReachable || evidence.path.status == .unknown,
            let reason = evidence.path.reason
        else { return nil }
        let place: CheckPlace =
            switch reason {
            case .noCarrier, .linkDown, .dormant, .noInterface, .discarded, .interfaceNotAllowed: .link
            case .nameNotResolved: .dns
            case .resolving: .inconclusive
            default: .thisMachine
            }
        if place == .dns {
            // A broken server may be the reason, so probes decide.
            return evidence.valid.isEmpty
                ? Finding(.dns, ProbeReason(reason), .likely, "the name cannot be resolved") : nil
        }
        if place == .thisMachine, let finding = duplicate(evidence) { return finding }
        let suffix = evidence.path.interface.map { " on \($0)" } ?? ""
        return Finding(place, ProbeReason(reason), .proven, "\(reason)\(suffix), reported by the kernel")
    }

    /// Returns the finding for two stations with the same address. If it is this machine's, it cannot be used. If it is the gateway's,
    /// packets reach one or the other.
    static func conflict(_ evidence: CheckEvidence) -> Finding? {
        // Without a usable address, the machine sends from its link-local one.
        if let source = evidence.path.source, source.isIPv6, source.isLinkLocal, let finding = duplicate(evidence) {
            return finding
        }
        let contested = evidence.valid.filter { $0.evidence.neighbour?.isContested == true }
        guard !contested.isEmpty else { return nil }
        return Finding(.link, .addressConflict, .proven, "two stations on the link use one address", contested)
    }

    private static func duplicate(_ evidence: CheckEvidence) -> Finding? {
        guard let address = evidence.duplicates.first else { return nil }
        let text = "another machine on the link has this machine's address \(address)"
        return Finding(.link, .addressConflict, .proven, text)
    }
}
