import LinuxSupport
import NetworkReachability

/// Captive networks (RFC 8952).
enum PortalStage {
    static func judge(_ view: FamilyView) -> Finding? {
        if let announced = view.results.first(where: { $0.evidence.portal?.isCaptive == true }) {
            let url = announced.evidence.portal?.userPortalURL.map { ": open \($0)" } ?? ""
            let left = announced.evidence.portal?.secondsRemaining.map { ", \($0) s left" } ?? ""
            let text = "the captive portal API reports that a login is required\(url)\(left)"
            return Finding(.portal, .captive, .proven, text, [announced])
        }
        // A portal cannot show the certificate of another host, but it may let connections to some hosts pass.
        guard !view.isVerified || view.standing == .failed else { return nil }
        let signs = view.results.filter(\.looksCaptive)
        let network = signs.filter { $0.request.subject == .unassigned || $0.request.subject == .inventedAddress }
        if signs.isEmpty, view.standing != .proven, let finding = byNames(view) { return finding }
        guard !signs.isEmpty, !network.isEmpty || view.standing != .proven else { return nil }
        if signs.allSatisfy({ $0.request.subject == .inventedAddress }) {
            return finding(.portalByDNS, "DNS resolves every name to a portal", signs, .likely)
        }
        let reason: ProbeReason =
            signs.contains { $0.evidence.http?.status == 511 }
            ? .networkAuthenticationRequired
            : signs.contains { $0.evidence.http?.location != nil } ? .redirected : .challengeWrong
        return finding(
            reason,
            "another device answers in place of the internet",
            signs,
            network.isEmpty ? .likely : .proven
        )
    }

    /// Returns the finding that known names and names that do not exist have the same address.
    ///
    /// The optimiser of Swift 6.3.1 stops with an assertion in this function (CopyPropagation), so optimisation is disabled.
    @_optimize(none)
    private static func byNames(_ view: FamilyView) -> Finding? {
        let answers = view.results.filter { $0.kind == .dns && $0.evidence.dns?.type == .a }
        let pair = answers.lazy.compactMap { known in inventedAnswer(of: known, among: answers).map { [known, $0] } }
            .first
        guard let pair, let address = pair.first?.evidence.dns?.addresses.first else { return nil }
        let text = "DNS resolves every name to \(address), probably a portal"
        return Finding(.portal, .portalByDNS, .likely, text, pair)
    }

    /// Returns the same server's answer for a name that does not exist, if it contains an address that the server also returns for a known
    /// name.
    private static func inventedAnswer(of known: ProbeResult, among answers: [ProbeResult]) -> ProbeResult? {
        let addresses = Set(known.evidence.dns?.addresses ?? [])
        guard known.purpose == .known, !addresses.isEmpty, addresses.isDisjoint(with: DNSFacts.fixedAddresses) else {
            return nil
        }
        return answers.first { answer in
            answer.purpose == .invented && answer.server == known.server
                && !addresses.isDisjoint(with: answer.evidence.dns?.addresses ?? [])
        }
    }

    private static func finding(
        _ reason: ProbeReason,
        _ text: String,
        _ signs: [ProbeResult],
        _ confidence: CheckConfidence
    ) -> Finding {
        let url = signs.lazy.compactMap { $0.evidence.http?.location }.first
        return Finding(.portal, reason, confidence, "\(text)\(url.map { ": open \($0)" } ?? "")", signs)
    }
}

/// Anchors that do not prove internet access although hosts beyond the gateway answer.
enum AnchorStage {
    static func unproven(_ view: FamilyView) -> Finding? {
        let anchors = view.results.filter { $0.isAnchor && !$0.isEcho }
        guard !anchors.isEmpty, view.standing == .failed else { return nil }
        let answered = anchors.filter(\.peerAnswered)
        let servers = view.farServers.filter(\.answersBeyondEchoes)
        var finding: Finding?
        if anchors.allSatisfy(\.isRefusedHere) {
            let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
            finding = LocalStage.refusal(of: anchors, to: "the anchor \(hosts)")
        } else if !answered.isEmpty {
            finding = certificate(answered) ?? unprovenAnswer(answered)
        } else if anchors.allSatisfy({ $0.outcome == .invalid(.nameNotFound) }) {
            let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
            finding = Finding(.dns, .nameNotFound, .likely, "the name \(hosts) of the anchor does not exist", anchors)
        } else if !servers.isEmpty {
            finding = closed(anchors, servers, view.evidence.silence)
        } else if let servers = otherServers(view), Set(anchors.map(\.anchorHost)).count == 1 {
            finding = closed(anchors, servers, view.evidence.silence)
        }
        // A fault nearer than the anchors has priority.
        if let place = finding?.place { finding?.isOpen = ![.thisMachine, .upstream].contains(place) }
        return finding
    }

    /// Returns the finding for an invalid certificate of a single anchor. The cause may be the host, this machine's clock, or an
    /// interception.
    private static func certificate(_ anchors: [ProbeResult]) -> Finding? {
        let results = anchors.filter {
            if case .invalid(let reason) = $0.outcome { faults.contains(reason) } else { false }
        }
        guard let first = results.first, case .invalid(let reason) = first.outcome else { return nil }
        if reason == .notYetValid {
            let text =
                "the certificate of the anchor \(first.anchorHost) is not valid yet; the clock of this machine may be slow"
            return Finding(.thisMachine, .clockWrong, .suspected, text, results)
        }
        let text = "TLS with the anchor \(first.anchorHost) fails: \(reason.rawValue)"
        return Finding(.tls, reason, .suspected, text, results)
    }

    private static let faults: Set<ProbeReason> = [
        .untrusted, .wrongName, .expired, .notYetValid, .notTLS, .alert, .versionOrCipher, .clientCertificateRequired,
    ]

    private static func unprovenAnswer(_ anchors: [ProbeResult]) -> Finding {
        let hosts = Set(anchors.map(\.anchorHost)).sorted().joined(separator: ", ")
        let text = "the anchor \(hosts) answers, but its answer does not prove internet access"
        return Finding(.inconclusive, .anchorsProveNothing, .suspected, text, anchors)
    }

    /// Returns the answers of DNS servers over the other family. They count only if packets of this family also pass the gateway, and if no
    /// anchor is known to be alive.
    private static func otherServers(_ view: FamilyView) -> [ProbeResult]? {
        guard !view.hops.isEmpty, !view.evidence.valid.contains(where: { $0.isAnchor && $0.peerAnswered }) else {
            return nil
        }
        let others = AddressFamily.allCases.filter { $0 != view.family }.flatMap {
            FamilyView($0, view.evidence).farServers.filter(\.answersBeyondEchoes)
        }
        return others.isEmpty ? nil : others
    }

    /// Returns the finding that DNS passes and connections to anchors do not. With several anchors, dropped connections are likelier than
    /// several hosts that are down. One host proves nothing.
    private static func closed(
        _ anchors: [ProbeResult],
        _ servers: [ProbeResult],
        _ confidence: CheckConfidence
    ) -> Finding {
        let hosts = Set(anchors.map(\.anchorHost)).sorted()
        guard hosts.count > 1, anchors.allSatisfy({ $0.outcome == .silent }) else {
            let text = "the DNS servers answer, but the anchor \(hosts.joined(separator: ", ")) does not"
            return Finding(.inconclusive, .anchorsProveNothing, .suspected, text, anchors + servers)
        }
        let text = "DNS servers answer, but no anchor accepts a connection"
        return Finding(.upstream, .filtered, confidence, text, anchors + servers)
    }
}

extension ProbeResult {
    fileprivate var anchorHost: String { if case .anchor(let host) = request.subject { host } else { "" } }
}
