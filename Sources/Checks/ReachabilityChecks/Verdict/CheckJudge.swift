import LinuxPrimitives
import NetworkReachability

/// Says where it breaks: a pure function, the stages in their order, the nearest first.
package enum CheckJudge {
    /// One verdict, whatever the evidence.
    package static func judge(_ evidence: CheckEvidence) -> CheckVerdict {
        let notes = Notes.of(evidence)
        if let finding = KernelStage.judge(evidence) ?? TargetStage.answers(evidence)
            ?? KernelStage.conflict(evidence)
        {
            return CheckVerdict(finding, notes: notes)
        }
        if evidence.isOnLink, let finding = NeighbourStage.judge(evidence) {
            return CheckVerdict(finding, notes: notes)
        }
        if let underlay = evidence.underlay.first, let finding = UnderlayStage.judge(evidence, underlay) {
            return CheckVerdict(finding, notes: notes)
        }
        let line = Families.join(evidence)
        // A target that says no proves the way there; but where no anchor answers, somebody in between may speak for it.
        let anchors = evidence.valid.filter(\.isAnchor)
        let isBelieved = anchors.isEmpty || anchors.contains(where: \.peerSpoke)
        let hasSpoken =
            (line.isOpen || [.inconclusive, .upstream].contains(line.place)) && isBelieved
            && evidence.target != nil && evidence.valid.contains { $0.isTarget && $0.peerSpoke }
        if line.place != .works && line.place != .degraded && !hasSpoken {
            // Of two faults the nearer one is told.
            let finding = TargetStage.refusedHere(evidence) ?? (line.isOpen ? NamesStage.judge(evidence) : nil)
            return CheckVerdict(finding ?? line, notes: notes)
        }
        // The line is good: what is wrong lies behind it.
        let finding = NamesStage.judge(evidence) ?? TargetStage.fails(evidence) ?? NamesStage.degraded(evidence, line)
        return CheckVerdict(finding ?? line, notes: notes)
    }

    /// One family alone, up to the internet; nil where nothing was sent.
    static func judge(_ view: FamilyView) -> Finding? {
        if view.results.allSatisfy({ $0.outcome == .invalid(.noRoute) }) { return nil }
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
            ?? UpstreamStage.silence(view)
    }
}
