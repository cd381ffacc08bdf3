import NetworkReachability

/// The gateway lives, and the internet does not answer.
enum UpstreamStage {
    /// A router says what is wrong, and who says it is where it is wrong.
    static func word(_ view: FamilyView) -> Finding? {
        // Packets that were to die on the way say nothing by that.
        let words = view.results.filter { result in
            result.word.map { $0.reason != .hopLimitExceeded || ![.gateway, .hop].contains(result.kind) } == true
        }
        guard let first = words.first(where: { !$0.isTarget }) ?? words.first, let error = first.word else {
            return nil
        }
        let reason: ProbeReason = error.reason == .noRouteBeyond ? .noRoute : error.reason
        let destination = first.request.destination.map { " to \($0)" } ?? ""
        let text =
            "\(error.sender)\(error.speaker == .gateway ? " (gateway)" : "") says \(phrase(reason))\(destination)"
        return Finding(.upstream, reason, .proven, text, words)
    }

    private static func phrase(_ reason: ProbeReason) -> String {
        switch reason {
        case .noRoute: "no route"
        case .hostUnreachable: "host unreachable"
        case .prohibited: "prohibited"
        case .hopLimitExceeded: "that packets go in a circle"
        case .fragmentationNeeded: "too big"
        default: reason.rawValue
        }
    }

    /// Between the farthest that spoke and the nearest that did not.
    static func silence(_ view: FamilyView) -> Finding {
        // Packets that this machine gave up, because it had not found the gateway yet, never got there.
        let givenUp = view.results.filter(\.isNeighbourGivenUp)
        if !givenUp.isEmpty {
            let text = "this machine gave up packets before it found the gateway, which answers"
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, text, givenUp)
        }
        let confidence = view.evidence.silence
        let echoes = view.results.filter { $0.isEcho && !$0.isTarget && $0.outcome == .answered }
        if !echoes.isEmpty {
            return Finding(.upstream, .filtered, confidence, "echoes pass, and connections do not", echoes)
        }
        if !view.hops.isEmpty {
            let name = view.hops.lazy.compactMap(\.evidence.speaker).first.map { " (\($0))" } ?? ""
            return Finding(
                .upstream,
                .silentBeyond,
                confidence,
                "nothing answers beyond the second hop\(name)",
                view.hops
            )
        }
        // What this machine refused to send is not silence.
        let beyond = view.results.contains { result in
            !result.isRefusedHere
                && (result.isAnchor || result.isTarget
                    || result.kind == .hop && view.farServers.isEmpty && !answersNames(view)
                    || result.purpose == .known && result.outcome != .answered)
        }
        if beyond, view.isGatewayUnknown, let gateway = view.gateway {
            let text = "nothing answers, and the gateway \(gateway) could not be probed"
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, text)
        }
        if beyond {
            let life = view.gatewayLife
            let name = life.isEmpty ? "this machine" : view.gateway.map { "the gateway \($0)" } ?? "the gateway"
            let modem = life.isEmpty && view.evidence.path.isExpensive ? ": no data session?" : ""
            return Finding(.upstream, .silentBeyond, confidence, "nothing answers beyond \(name)\(modem)", life)
        }
        let text = "nothing shows whether there is an internet behind the gateway"
        return Finding(.inconclusive, .notEnoughEvidence, .suspected, text, view.gatewayLife)
    }

    /// Whether the gateway's own DNS server answers, which may know some answers by heart.
    private static func answersNames(_ view: FamilyView) -> Bool {
        view.results.contains { $0.purpose == .known && $0.outcome == .answered }
    }
}
