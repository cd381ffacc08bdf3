import LinuxPrimitives

/// A target on the link itself: whatever is wrong behind the gateway is nothing to it.
enum NeighbourStage {
    static func judge(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        let results = evidence.valid.filter { $0.isTarget && $0.ran }
        let givenUp = results.filter(\.isNeighbourGivenUp)
        if !givenUp.isEmpty, !results.contains(where: \.peerSpoke) {
            let text = "\(target.text) does not answer on the link"
            return Finding(.host, .neighbourFailed, .proven, text, givenUp)
        }
        return TargetStage.fails(evidence)
    }
}
