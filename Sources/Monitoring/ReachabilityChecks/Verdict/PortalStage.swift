import LinuxSupport
import NetworkReachability

/// Whether the network wants something of a person first (RFC 8952).
enum PortalStage {
    static func judge(_ view: FamilyView) -> Finding? {
        if let said = view.results.first(where: { $0.evidence.portal?.isCaptive == true }) {
            let url = said.evidence.portal?.userPortalURL.map { ": open \($0)" } ?? ""
            let left = said.evidence.portal?.secondsRemaining.map { ", \($0) s left" } ?? ""
            return Finding(.portal, .captive, .proven, "the network says that it is captive\(url)\(left)", [said])
        }
        // No portal can show the certificate of another host; but it may let a few hosts pass.
        guard !view.isVerified || view.standing == .failed else { return nil }
        let signs = view.results.filter(\.looksCaptive)
        let network = signs.filter { $0.request.subject == .nobody || $0.request.subject == .lure }
        if signs.isEmpty, view.standing != .proven, let finding = byNames(view) { return finding }
        guard !signs.isEmpty, !network.isEmpty || view.standing != .proven else { return nil }
        if signs.allSatisfy({ $0.request.subject == .lure }) {
            return finding(.portalByDNS, "DNS leads every name to a portal", signs, .likely)
        }
        let reason: ProbeReason =
            signs.contains { $0.evidence.http?.status == 511 }
            ? .networkAuthenticationRequired
            : signs.contains { $0.evidence.http?.location != nil } ? .redirected : .challengeWrong
        return finding(
            reason,
            "something else answers in place of the internet",
            signs,
            network.isEmpty ? .likely : .proven
        )
    }

    /// Names that everybody knows and names that nobody has lead to the same address.
    ///
    /// The optimiser of Swift 6.3.1 ends with an assertion in this function (CopyPropagation), so it is left out.
    @_optimize(none)
    private static func byNames(_ view: FamilyView) -> Finding? {
        let answers = view.results.filter { $0.kind == .dns && $0.evidence.dns?.type == .a }
        let pair = answers.lazy.compactMap { known in twin(of: known, among: answers).map { [known, $0] } }.first
        guard let pair, let address = pair.first?.evidence.dns?.addresses.first else { return nil }
        let text = "DNS leads every name to \(address), probably to a portal"
        return Finding(.portal, .portalByDNS, .likely, text, pair)
    }

    /// The same server's answer for a name that nobody has, with an address that it also gives, wrongly, for one that everybody knows.
    private static func twin(of known: ProbeResult, among answers: [ProbeResult]) -> ProbeResult? {
        let addresses = Set(known.evidence.dns?.addresses ?? [])
        guard known.purpose == .known, !addresses.isEmpty, addresses.isDisjoint(with: DNSFacts.everybodyKnows) else {
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
