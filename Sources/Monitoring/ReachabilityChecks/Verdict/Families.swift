import LinuxSupport

/// Families are judged apart, then joined: what works over one is not broken, and what is broken over both is broken where packets get
/// furthest.
enum Families {
    static func join(_ evidence: CheckEvidence) -> Finding {
        let findings = concerned(evidence).compactMap { family in
            CheckJudge.judge(FamilyView(family, evidence)).map { (family, $0) }
        }
        // A family whose gateway was not probed gets no further than the link, as far as is known.
        func isUnknown(_ finding: (AddressFamily, Finding)) -> Bool {
            finding.1.place == .inconclusive && FamilyView(finding.0, evidence).isGatewayUnknown
        }
        func rank(_ finding: (AddressFamily, Finding)) -> (Int, Int) {
            isUnknown(finding) ? (CheckPlace.link.distance, 0) : finding.1.rank
        }
        guard let best = findings.max(by: { rank($0) < rank($1) }) else {
            return unasked(evidence)
        }
        let worst = findings.first { $0.0 != best.0 }
        // A family that no anchor was asked over does not answer for one whose anchors prove nothing.
        if best.1.place == .works, FamilyView(best.0, evidence).askedAnchors.isEmpty, let worst,
            worst.1.isAboutAnchors, !FamilyView(worst.0, evidence).askedAnchors.isEmpty
        {
            return worst.1
        }
        // Whoever intercepts over one family has ended the round: the other was not asked to its end.
        if best.1.place == .inconclusive, let worst, worst.1.place == .portal { return worst.1 }
        // What this machine refuses is known; of the other family there is nothing but silence, here or further away.
        let isSilent = rank(best).0 < CheckPlace.upstream.distance || best.1.reason == .silentBeyond
        if isSilent, let worst, worst.1.reason == .firewall { return worst.1 }
        guard best.1.place == .works, let worst, worst.1.place != .works,
            worst.1.place != .inconclusive || isUnknown(worst), !FamilyView(worst.0, evidence).isMute
        else {
            return best.1
        }
        // What the network says of itself is meant for both.
        if worst.1.reason == .captive { return worst.1 }
        let (name, reason): (String, ProbeReason) =
            worst.0 == .ipv4 ? ("IPv4", .ipv4Broken) : ("IPv6", .ipv6Broken)
        let text = "\(name) is broken, and the other family works; \(worst.1.place.rawValue): \(worst.1.text)"
        return Finding(.degraded, reason, worst.1.confidence, text, worst.1.evidence)
    }

    /// Nothing was sent, and why.
    private static func unasked(_ evidence: CheckEvidence) -> Finding {
        if let finding = LocalStage.refusal(of: evidence.valid.filter(\.isRefusedHere), to: nil) { return finding }
        let skipped = evidence.valid.filter {
            if case .skipped(let reason) = $0.outcome { reason != .notNeeded } else { false }
        }
        guard let first = skipped.first, case .skipped(let reason) = first.outcome else {
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, "nothing could be asked")
        }
        let cause =
            switch (reason, first.request.binding.mark) {
            case (.notPermitted, let mark?): "a packet with the mark \(mark) needs CAP_NET_ADMIN or CAP_NET_RAW"
            case (.notPermitted, nil): "this user may not send what is needed"
            case (.noDescriptors, _): "no descriptor is free for a socket"
            case (.interfaceGone, _): "the network namespace is gone"
            case (.overBudget, _): "there is no room to send"
            case (.reversePathFilter, _), (.notNeeded, _): reason.rawValue
            }
        let text = "nothing could be asked: \(cause)"
        return Finding(.inconclusive, ProbeReason(rawValue: reason.rawValue), .suspected, text, skipped)
    }

    /// A target is reached over the families it has addresses of; one without any might be over each that packets may take.
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
    /// Orders the findings of families: by how far packets get, then a proof of the internet before a likelihood.
    fileprivate var rank: (Int, Int) { (place.distance, reason == .internetProven ? 1 : 0) }

    /// Whether it is about the anchors themselves, and not about the way to them.
    fileprivate var isAboutAnchors: Bool { [.inconclusive, .tls].contains(place) || reason == .clockWrong }
}
