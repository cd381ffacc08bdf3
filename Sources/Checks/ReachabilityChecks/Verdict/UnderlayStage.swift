import NetworkReachability

/// A tunnel is as good as the way to its far end.
enum UnderlayStage {
    static func judge(_ evidence: CheckEvidence, _ underlay: CheckEvidence) -> Finding? {
        let verdict = CheckJudge.judge(underlay)
        guard ![.works, .degraded, .inconclusive].contains(verdict.place) else { return nil }
        let line = Families.join(evidence)
        // What answers through the tunnel proves the way below it.
        guard line.place != .works, line.place != .degraded else { return nil }
        let (upper, lower) = (evidence.path.interface, underlay.path.interface)
        let way = upper.map { one in " (via \(one.name)\(lower.map { " over \($0.name)" } ?? ""))" } ?? ""
        // Nobody but the far end is asked behind the gateway: a way that leads nowhere is as likely as a machine that is off.
        let place = verdict.place == .host || verdict.place == .service ? CheckPlace.upstream : verdict.place
        return Finding(place, verdict.reason, verdict.confidence, verdict.text + way, verdict.evidence)
    }
}
