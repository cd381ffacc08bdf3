import LinuxSupport
import NetworkReachability

/// Faults of this machine.
enum LocalStage {
    /// Returns the finding that this machine refuses all packets.
    static func refuses(_ view: FamilyView) -> Finding? {
        guard view.gatewayLife.isEmpty, view.lifeBeyond.isEmpty else { return nil }
        // A packet filter may drop other packets silently. A route or rule that refuses some packets does not explain the silence of
        // others.
        let refused = view.results.filter { $0.refusal == .firewall }
        if !refused.isEmpty { return refusal(of: refused, to: nil) }
        return view.results.allSatisfy(\.isRefusedByRoute) ? refusal(of: view.results, to: nil) : nil
    }

    /// Returns the finding for packets that this machine refused to send.
    ///
    /// - Parameter destination: The destination of the packets; nil for all destinations.
    static func refusal(
        of refused: [ProbeResult],
        to destination: String?,
        _ confidence: CheckConfidence = .proven
    ) -> Finding? {
        // A packet filter that refuses one packet may silently drop others.
        guard let reason = refused.lazy.compactMap(\.refusal).first else { return nil }
        let packets = destination.map { "packets to \($0)" } ?? "its packets"
        let text =
            reason == .firewall
            ? "this machine's packet filter refuses \(packets)" : "this machine refuses \(packets): \(reason.refusal)"
        return Finding(.thisMachine, reason, confidence, text, refused)
    }

    /// Returns the finding that this machine refuses packets to all hosts beyond the routers while the routers answer.
    static func refusesBeyond(_ view: FamilyView) -> Finding? {
        let far = view.results.filter { result in
            switch result.request.subject {
            case .server, .anchor, .target: result.ran && result.request.destination != nil
            case .line, .unassigned, .inventedAddress, .portal: false
            }
        }
        let refused = far.filter(\.isRefusedHere)
        // A connection is silent if only datagrams are refused, because the kernel does not report refused SYNs.
        let places = Set(refused.map(\.request.destination))
        guard !refused.isEmpty, far.allSatisfy({ places.contains($0.request.destination) && !$0.peerAnswered }) else {
            return nil
        }
        let names = places.compactMap { $0?.description }.sorted().joined(separator: ", ")
        return refusal(of: refused, to: names, .likely)
    }

    /// Returns the finding for packets that were received and not delivered, because the packet filter drops answers.
    static func dropsAnswers(_ view: FamilyView) -> Finding? {
        let isFiltered = view.evidence.isReversePathFiltered
        // The reverse path filter accepts packets from the gateway, because its address is on the link.
        let results = isFiltered ? view.results.filter { $0.kind != .gateway } : view.results
        guard let dropped = view.evidence.dropped[view.family], dropped >= 2, !results.isEmpty,
            !results.contains(where: { $0.peerAnswered || $0.error != nil }),
            // Unrelated packets are dropped too. The packet filter does not affect ARP.
            !view.results.contains(where: { [.incomplete, .failed].contains($0.evidence.neighbour?.after) })
        else { return nil }
        if isFiltered {
            let text = "packets arrive on another interface than the route to their senders uses: rp_filter drops them"
            return Finding(.inconclusive, .reversePathFilter, .likely, text, view.results)
        }
        let text = "\(dropped) packets arrived, and this machine's packet filter dropped all of them"
        return Finding(.thisMachine, .firewall, .likely, text, view.results)
    }

    /// Returns the finding that datagrams pass and TCP connections do not. A provider that allows only echoes would not allow DNS.
    static func filtersTCP(_ view: FamilyView) -> Finding? {
        let connections = view.results.filter { [.tcp, .tls, .http].contains($0.kind) && ($0.isAnchor || $0.isTarget) }
        let echoes = view.results.filter { $0.isEcho && $0.outcome == .answered && ($0.isAnchor || $0.isTarget) }
        let datagrams = view.farServers.filter(\.answersBeyondEchoes)
        guard !connections.isEmpty, connections.allSatisfy({ $0.outcome == .silent && !$0.peerAnswered }),
            Set(connections.map(\.request.destination)).count > 1 || connections.contains(where: \.isAnchor),
            !echoes.isEmpty, !datagrams.isEmpty
        else { return nil }
        let text = "UDP and echoes are answered, but no TCP connection: probably a packet filter on this machine"
        return Finding(.thisMachine, .tcpFiltered, .suspected, text, connections + echoes + datagrams)
    }

    /// Returns the finding that this machine's clock is wrong: certificates of several hosts are not valid now, or a server reports another
    /// day.
    static func clock(_ view: FamilyView) -> Finding? {
        let untimely = view.results.filter { $0.outcome == .invalid(.notYetValid) || $0.outcome == .invalid(.expired) }
        let dated = view.results.filter { $0.isEchoed && ($0.evidence.http?.clockOffset).map(isFar) == true }
        guard !view.isVerified, Set(untimely.map(\.request.subject)).count > 1 || !dated.isEmpty else { return nil }
        let text = "this machine's clock is wrong: certificates of several hosts are not valid at its time"
        return Finding(.thisMachine, .clockWrong, dated.isEmpty ? .likely : .proven, text, untimely + dated)
    }

    private static func isFar(_ offset: Duration) -> Bool { offset > .seconds(86_400) || offset < .seconds(-86_400) }
}

/// Faults beyond a gateway that is alive.
enum UpstreamStage {
    /// Returns the finding for a fault that a router reports.
    static func word(_ view: FamilyView) -> Finding? {
        // Packets with a short hop limit expire as intended.
        let words = view.results.filter { result in
            result.word.map { $0.reason != .hopLimitExceeded || ![.gateway, .hop].contains(result.kind) } == true
        }
        guard let first = words.first(where: { !$0.isTarget }) ?? words.first, let error = first.word else {
            return nil
        }
        let reason: ProbeReason = error.reason == .noRouteBeyond ? .noRoute : error.reason
        let destination = first.request.destination.map { " to \($0)" } ?? ""
        let text =
            "\(error.sender)\(error.source == .gateway ? " (gateway)" : "") reports \(phrase(reason))\(destination)"
        return Finding(.upstream, reason, .proven, text, words)
    }

    private static func phrase(_ reason: ProbeReason) -> String {
        switch reason {
        case .noRoute: "no route"
        case .hostUnreachable: "host unreachable"
        case .prohibited: "prohibited"
        case .hopLimitExceeded: "a routing loop"
        case .fragmentationNeeded: "packet too big"
        default: reason.rawValue
        }
    }

    /// Returns the finding for silence. The place is between the farthest host that answered and the nearest that did not.
    static func silence(_ view: FamilyView) -> Finding {
        // This machine discarded packets before the gateway was resolved.
        let givenUp = view.results.filter(\.isNeighbourGivenUp)
        if !givenUp.isEmpty {
            let text = "this machine discarded packets before it resolved the gateway, which answers"
            return Finding(.inconclusive, .notEnoughEvidence, .suspected, text, givenUp)
        }
        let confidence = view.evidence.silence
        let echoes = view.results.filter { $0.isEcho && !$0.isTarget && $0.outcome == .answered }
        if !echoes.isEmpty {
            return Finding(.upstream, .filtered, confidence, "echoes pass, but connections do not", echoes)
        }
        if !view.hops.isEmpty {
            let name = view.hops.lazy.compactMap(\.evidence.source).first.map { " (\($0))" } ?? ""
            let text = "nothing answers beyond the second hop\(name)"
            return Finding(.upstream, .silentBeyond, confidence, text, view.hops)
        }
        // A packet that this machine refused to send is not silence.
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
            let modem = life.isEmpty && view.evidence.path.isExpensive ? "; there may be no data session" : ""
            return Finding(.upstream, .silentBeyond, confidence, "nothing answers beyond \(name)\(modem)", life)
        }
        let text = "there is no evidence of internet access beyond the gateway"
        return Finding(.inconclusive, .notEnoughEvidence, .suspected, text, view.gatewayLife)
    }

    /// Returns whether the gateway's own DNS server answers. It may have cached its answers.
    private static func answersNames(_ view: FamilyView) -> Bool {
        view.results.contains { $0.purpose == .known && $0.outcome == .answered }
    }
}
