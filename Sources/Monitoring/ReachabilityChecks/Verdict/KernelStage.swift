import NetworkReachability

/// What the kernel knows without a packet.
enum KernelStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        guard evidence.path.status == .notReachable || evidence.path.status == .unknown,
            let reason = evidence.path.reason
        else { return nil }
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
        if place == .thisMachine, let finding = duplicate(evidence) { return finding }
        let suffix = evidence.path.interface.map { " on \($0)" } ?? ""
        return Finding(place, ProbeReason(reason), .proven, "\(reason)\(suffix), says the kernel")
    }

    /// Two stations have one address: ours, so that it may not be used, or the gateway's, so that packets go now to one and now to the
    /// other.
    static func conflict(_ evidence: CheckEvidence) -> Finding? {
        // Without an address of its own a machine sends from one that is good on the link alone.
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
