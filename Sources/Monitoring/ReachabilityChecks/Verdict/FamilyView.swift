import LinuxSupport
import NetworkReachability

/// The evidence of one family, and what it says together.
struct FamilyView {
    let family: AddressFamily
    let evidence: CheckEvidence
    let results: [ProbeResult]

    init(_ family: AddressFamily, _ evidence: CheckEvidence) {
        self.family = family
        self.evidence = evidence
        results = evidence.valid.filter { $0.request.binding.family == family && $0.ran && !$0.isTargetName }
    }

    var gateway: IPAddress? { evidence.gateways[family] ?? evidence.path.gateway }

    // MARK: Who has spoken

    /// Answers and errors of the gateway itself.
    var gatewayLife: [ProbeResult] {
        results.filter {
            if $0.error?.speaker == .gateway || $0.outcome == .refused(.gateway) { return true }
            if $0.server != nil, $0.server == gateway, $0.peerSpoke { return true }
            guard $0.kind == .gateway else { return false }
            return $0.outcome == .answered || $0.peerSpoke || $0.evidence.neighbour?.provesLife == true
        }
    }

    /// The probes of the gateway that left this machine.
    var gatewayProbes: [ProbeResult] { results.filter { $0.kind == .gateway && !$0.isRefusedHere } }

    /// Whether there is a gateway, and nothing shows whether it lives: silence beyond it is then nobody's fault.
    var isGatewayUnknown: Bool {
        guard let gateway, gateway.isIPv6 == (family == .ipv6) else { return false }
        return gatewayProbes.isEmpty && gatewayLife.isEmpty && lifeBeyond.isEmpty
    }

    /// Answers of routers behind the gateway, and of servers there.
    var lifeBeyond: [ProbeResult] {
        results.filter { result in
            if result.isHopWord { return true }
            return switch result.request.subject {
            case .line: (result.kind == .hop || result.kind == .passive) && result.outcome == .answered
            case .server(let address, _): isBeyond(address) && result.peerSpoke
            case .anchor, .target: result.peerSpoke
            case .nobody, .lure, .portal: false
            }
        }
    }

    var hops: [ProbeResult] { results.filter { $0.kind == .hop && $0.outcome == .answered } }

    /// A server that is neither the gateway nor this machine. One on the link itself is asked by the gateway's grace all the same.
    func isBeyond(_ server: IPAddress) -> Bool {
        server != gateway && server.mayBeBeyond(routerOf: evidence.path.source)
    }

    /// The first questions to servers that are behind the gateway.
    var farServers: [ProbeResult] { results.filter { $0.purpose == .known && $0.server.map(isBeyond) == true } }

    // MARK: The internet

    enum Standing { case proven, likely, half, failed, unknown }

    /// All URLs of one host are one anchor, which is good if any of them proves it.
    var goodAnchors: Set<String> {
        Set(
            results.compactMap { result in
                guard case .anchor(let host) = result.request.subject, result.isVerified || result.isEchoed else {
                    return nil
                }
                return host
            }
        )
    }

    /// Those that were asked over this family, whatever became of it.
    var askedAnchors: Set<String> {
        Set(results.compactMap { if case .anchor(let host) = $0.request.subject { host } else { nil } })
    }

    var standing: Standing {
        let (good, asked) = (goodAnchors.count, askedAnchors.count)
        if asked > 0 { return good * 2 > asked ? .proven : good * 2 == asked ? .half : .failed }
        if farServers.contains(where: \.saysMoreThanEchoes) { return .likely }
        guard !hops.isEmpty else { return results.isEmpty ? .unknown : .failed }
        // A router answers, and yet the servers behind it do not, be it over the other family where this one has none.
        guard farServers.isEmpty else { return .failed }
        let others = evidence.valid.filter { $0.ran && $0.purpose == .known && $0.server.map(isBeyond) == true }
        return others.isEmpty || others.contains(where: \.saysMoreThanEchoes) ? .likely : .failed
    }

    /// Whether all that is known is that routers do not speak for themselves: they need not, and nobody else was asked.
    var isMute: Bool {
        let hasLink = results.contains { $0.evidence.neighbour.map { $0.after == .reachable } == true }
        let asked = results.contains { $0.isAnchor || $0.server != nil }
        return hasLink && !asked && gatewayLife.isEmpty && !results.contains { $0.error != nil }
    }

    var isVerified: Bool { results.contains { $0.isVerified } }
}

extension ProbeResult {
    /// Whether a router behind the gateway has spoken, be it to refuse.
    fileprivate var isHopWord: Bool {
        if case .hop = error?.speaker { request.subject != .nobody } else { false }
    }
}

extension IPAddress {
    /// Whether a router may lead to a server of this address. If this machine's own address is of 169.254.0.0/16 and packets pass a router,
    /// that network is no link.
    func mayBeBeyond(routerOf source: IPAddress?) -> Bool {
        if wire.isLoopback { return false }
        return !isLinkLocal || !isIPv6 && source.map { !$0.isIPv6 && $0.isLinkLocal } == true
    }
}
