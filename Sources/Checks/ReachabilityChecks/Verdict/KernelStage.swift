import NetworkReachability

/// What the kernel knows without a packet.
enum KernelStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        guard evidence.path.status == .notReachable || evidence.path.status == .unknown,
            let reason = evidence.path.reason
        else { return conflict(evidence) }
        let place: CheckPlace =
            switch reason {
            case .noCarrier, .linkDown, .dormant: .link
            case .nameNotResolved: .dns
            case .resolving: .inconclusive
            default: .thisMachine
            }
        if place == .dns {
            // The name may only be unknown to a broken server: the probes tell more.
            return evidence.valid.isEmpty
                ? Finding(.dns, ProbeReason(reason), .likely, "the name service does not know the name") : nil
        }
        let suffix = evidence.path.interface.map { " on \($0)" } ?? ""
        return Finding(place, ProbeReason(reason), .proven, "\(reason)\(suffix), says the kernel")
    }

    private static func conflict(_ evidence: CheckEvidence) -> Finding? {
        let contested = evidence.valid.filter { $0.evidence.neighbour?.isContested == true }
        guard !contested.isEmpty else { return nil }
        return Finding(.link, .addressConflict, .proven, "two stations on the link use one address", contested)
    }
}
