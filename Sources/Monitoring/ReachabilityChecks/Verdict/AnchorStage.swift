import LinuxSupport
import NetworkReachability

/// Packets get to somebody behind the gateway and back, and yet no anchor proves the internet: that is no silence, and where it breaks is
/// with the anchors, as far as they tell.
enum AnchorStage {
    static func unproven(_ view: FamilyView) -> Finding? {
        let anchors = view.results.filter { $0.isAnchor && !$0.isEcho }
        guard !anchors.isEmpty, view.standing == .failed else { return nil }
        let spoken = anchors.filter(\.peerSpoke)
        let servers = view.farServers.filter(\.saysMoreThanEchoes)
        var finding: Finding?
        if anchors.allSatisfy(\.isRefusedHere) {
            let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
            finding = LocalStage.refusal(of: anchors, to: "the anchor \(hosts)")
        } else if !spoken.isEmpty {
            finding = certificate(spoken) ?? mute(spoken)
        } else if anchors.allSatisfy({ $0.outcome == .invalid(.nameNotFound) }) {
            let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
            finding = Finding(.dns, .nameNotFound, .likely, "the name \(hosts) of the anchor does not exist", anchors)
        } else if !servers.isEmpty {
            finding = closed(anchors, servers, view.evidence.silence)
        } else if let servers = otherServers(view), Set(anchors.map(\.anchorHost)).count == 1 {
            finding = closed(anchors, servers, view.evidence.silence)
        }
        // What is wrong nearer by than the anchors decides before them, but for a place that is nearer still.
        if let place = finding?.place { finding?.isOpen = ![.thisMachine, .upstream].contains(place) }
        return finding
    }

    /// The certificate of a single host may be its own fault, or this machine's clock, or somebody's in between.
    private static func certificate(_ anchors: [ProbeResult]) -> Finding? {
        let results = anchors.filter {
            if case .invalid(let reason) = $0.outcome { faults.contains(reason) } else { false }
        }
        guard let first = results.first, case .invalid(let reason) = first.outcome else { return nil }
        if reason == .notYetValid {
            let text =
                "the certificate of the anchor \(first.anchorHost) is not valid yet: is this machine's clock late?"
            return Finding(.thisMachine, .clockWrong, .suspected, text, results)
        }
        let text = "TLS with the anchor \(first.anchorHost) fails: \(reason.rawValue)"
        return Finding(.tls, reason, .suspected, text, results)
    }

    private static let faults: Set<ProbeReason> = [
        .untrusted, .wrongName, .expired, .notYetValid, .notTLS, .alert, .versionOrCipher, .clientCertificateRequired,
    ]

    private static func mute(_ anchors: [ProbeResult]) -> Finding {
        let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
        let text = "the anchor \(hosts) is there, and what it answers proves no internet"
        return Finding(.inconclusive, .anchorsProveNothing, .suspected, text, anchors)
    }

    /// The DNS servers of the other family that answer. They count only if packets of this family get beyond the gateway too, and if no
    /// anchor is known to be alive.
    private static func otherServers(_ view: FamilyView) -> [ProbeResult]? {
        guard !view.hops.isEmpty, !view.evidence.valid.contains(where: { $0.isAnchor && $0.peerSpoke }) else {
            return nil
        }
        let others = AddressFamily.allCases.filter { $0 != view.family }.flatMap {
            FamilyView($0, view.evidence).farServers.filter(\.saysMoreThanEchoes)
        }
        return others.isEmpty ? nil : others
    }

    /// DNS passes. That several hosts are off is less likely than that connections are dropped; of one nothing is known.
    private static func closed(
        _ anchors: [ProbeResult],
        _ servers: [ProbeResult],
        _ confidence: CheckConfidence
    ) -> Finding {
        let hosts = Set(anchors.map(\.anchorHost)).sorted()
        guard hosts.count > 1, anchors.allSatisfy({ $0.outcome == .silent }) else {
            let text = "the DNS servers answer, and the anchor \(hosts.joined(separator: ", ")) does not"
            return Finding(.inconclusive, .anchorsProveNothing, .suspected, text, anchors + servers)
        }
        let text = "DNS servers answer, and no anchor takes a connection"
        return Finding(.upstream, .filtered, confidence, text, anchors + servers)
    }
}

extension ProbeResult {
    fileprivate var anchorHost: String { if case .anchor(let host) = request.subject { host } else { "" } }
}
