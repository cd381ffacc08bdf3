import LinuxSupport
import NetworkReachability

/// What this machine itself spoils.
enum LocalStage {
    /// This machine lets nothing out.
    static func refuses(_ view: FamilyView) -> Finding? {
        guard view.gatewayLife.isEmpty, view.lifeBeyond.isEmpty else { return nil }
        // A packet filter may drop other packets in silence. A route or a rule that refuses some packets explains no silence of others.
        let refused = view.results.filter { $0.refusal == .firewall }
        if !refused.isEmpty { return refusal(of: refused, to: nil) }
        return view.results.allSatisfy(\.isRefusedByRoute) ? refusal(of: view.results, to: nil) : nil
    }

    /// The verdict on packets that this machine refused to send.
    ///
    /// - Parameter receiver: The peer that the packets were for; nil for all peers.
    static func refusal(
        of refused: [ProbeResult],
        to receiver: String?,
        _ confidence: CheckConfidence = .proven
    ) -> Finding? {
        // A packet filter that refuses one packet may have dropped others.
        guard let reason = refused.lazy.compactMap(\.refusal).first else { return nil }
        let packets = receiver.map { "packets to \($0)" } ?? "its packets"
        let text =
            reason == .firewall
            ? "this machine's packet filter refuses \(packets)" : "this machine refuses \(packets): \(reason.refusal)"
        return Finding(.thisMachine, reason, confidence, text, refused)
    }

    /// This machine refuses packets to every peer beyond the routers, and the routers answer.
    static func refusesBeyond(_ view: FamilyView) -> Finding? {
        let far = view.results.filter { result in
            switch result.request.subject {
            case .server, .anchor, .target: result.ran && result.request.destination != nil
            case .line, .nobody, .lure, .portal: false
            }
        }
        let refused = far.filter(\.isRefusedHere)
        // A connection to whom datagrams are refused is silent: the kernel does not tell it.
        let places = Set(refused.map(\.request.destination))
        guard !refused.isEmpty, far.allSatisfy({ places.contains($0.request.destination) && !$0.peerSpoke }) else {
            return nil
        }
        let names = places.compactMap { $0?.description }.sorted().joined(separator: ", ")
        return refusal(of: refused, to: names, .likely)
    }

    /// Packets came in, and none got to a program: the packet filter drops answers.
    static func dropsAnswers(_ view: FamilyView) -> Finding? {
        let isFiltered = view.evidence.isReversePathFiltered
        // The filter of reverse paths passes what the gateway sends itself, because its address is of the link.
        let results = isFiltered ? view.results.filter { $0.kind != .gateway } : view.results
        guard let dropped = view.evidence.dropped[view.family], dropped >= 2, !results.isEmpty,
            !results.contains(where: { $0.peerSpoke || $0.error != nil }),
            // What strangers send is dropped too. The packet filter does not see what neighbours ask each other by ARP.
            !view.results.contains(where: { [.incomplete, .failed].contains($0.evidence.neighbour?.after) })
        else { return nil }
        if isFiltered {
            let text = "packets come in by another interface than those to their senders leave by: rp_filter drops them"
            return Finding(.inconclusive, .reversePathFilter, .likely, text, view.results)
        }
        let text = "\(dropped) packets came in, and this machine's packet filter let none of them get to a program"
        return Finding(.thisMachine, .firewall, .likely, text, view.results)
    }

    /// Datagrams come through, connections do not.
    ///
    /// A provider that passes echoes alone looks the same but for DNS, which it does not pass either.
    static func filtersTCP(_ view: FamilyView) -> Finding? {
        let connections = view.results.filter { [.tcp, .tls, .http].contains($0.kind) && ($0.isAnchor || $0.isTarget) }
        let echoes = view.results.filter { $0.isEcho && $0.outcome == .answered && ($0.isAnchor || $0.isTarget) }
        let datagrams = view.farServers.filter(\.saysMoreThanEchoes)
        guard !connections.isEmpty, connections.allSatisfy({ $0.outcome == .silent && !$0.peerSpoke }),
            Set(connections.map(\.request.destination)).count > 1 || connections.contains(where: \.isAnchor),
            !echoes.isEmpty, !datagrams.isEmpty
        else { return nil }
        return Finding(
            .thisMachine,
            .tcpFiltered,
            .suspected,
            "UDP and echoes are answered, and no TCP connection is: a packet filter, probably on this machine",
            connections + echoes + datagrams
        )
    }

    /// Certificates of several hosts are out of their time, or a server tells another day.
    static func clock(_ view: FamilyView) -> Finding? {
        let untimely = view.results.filter { $0.outcome == .invalid(.notYetValid) || $0.outcome == .invalid(.expired) }
        let dated = view.results.filter { $0.isEchoed && ($0.evidence.http?.clockOffset).map(isFar) == true }
        guard !view.isVerified, Set(untimely.map(\.request.subject)).count > 1 || !dated.isEmpty else { return nil }
        return Finding(
            .thisMachine,
            .clockWrong,
            dated.isEmpty ? .likely : .proven,
            "this machine's clock is wrong: certificates of several hosts are not valid at its time",
            untimely + dated
        )
    }

    private static func isFar(_ offset: Duration) -> Bool { offset > .seconds(86_400) || offset < .seconds(-86_400) }
}
