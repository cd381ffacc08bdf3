import LinuxPrimitives

/// Families are judged apart, then joined: what works over one is not broken, and what is broken over both is broken where packets get
/// furthest.
enum Families {
    static func join(_ evidence: CheckEvidence) -> Finding {
        let findings = concerned(evidence).compactMap { family in
            CheckJudge.judge(FamilyView(family, evidence)).map { (family, $0) }
        }
        guard let best = findings.max(by: { $0.1.place.distance < $1.1.place.distance }) else {
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, "nothing could be asked")
        }
        let worst = findings.first { $0.0 != best.0 }
        guard best.1.place == .works, let worst, worst.1.place != .works, worst.1.place != .inconclusive,
            !FamilyView(worst.0, evidence).isMute
        else {
            return best.1
        }
        let (name, reason): (String, ProbeReason) =
            worst.0 == .ipv4 ? ("IPv4", .ipv4Broken) : ("IPv6", .ipv6Broken)
        let text = "\(name) is broken, and the other family works; \(worst.1.place.rawValue): \(worst.1.text)"
        return Finding(.degraded, reason, worst.1.confidence, text, worst.1.evidence)
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
