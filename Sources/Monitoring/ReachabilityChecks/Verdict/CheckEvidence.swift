import LinuxSupport
import NetworkReachability

/// The evidence on which a verdict is based.
struct CheckEvidence: Sendable {
    /// The kernel's path to the target, or to the network at large.
    var path: NetworkPath
    var generation: UInt64
    /// The address families that have a path; empty for both.
    var families: Set<AddressFamily> = []
    /// The gateway of each family. For a family without an entry, that of the path applies.
    var gateways: [AddressFamily: IPAddress] = [:]
    /// True if the target is a neighbour, so that faults beyond the link do not affect it.
    var isOnLink = false
    /// Whether packets to the target use the probed uplink, so that an interception there may answer in its place.
    var sharesLine = true
    /// The target; nil for the internet.
    var target: CheckTarget?
    /// The hosts of the anchors.
    var anchors: Set<String> = []
    /// The hosts of the anchors that requested a pause (`Retry-After`).
    var restingAnchors: Set<String> = []
    /// The configured DNS servers; nil if they could not be read.
    var servers: [IPAddress]?
    /// The expected addresses of names.
    var expectations: [String: Set<IPAddress>] = [:]
    var results: [ProbeResult] = []
    /// The numbers of packets that were received during the round and not delivered, by family. Unknown for a family without an entry.
    var dropped: [AddressFamily: Int] = [:]
    /// True if the reverse path filter dropped packets (`rp_filter` of `ip-sysctl`).
    var isReversePathFiltered = false
    /// The addresses of this machine that another machine on the link also uses.
    var duplicates: [IPAddress] = []
    /// True if a target that answers over one family was also probed over the other.
    var comparesFamilies = false
    /// The interface of the line if it is a tunnel.
    var tunnel: NetworkInterface?
    /// The evidence about the path to the far end of a tunnel. At most one element.
    var underlay: [CheckEvidence] = []

    init(path: NetworkPath, generation: UInt64 = 1, target: CheckTarget? = nil) {
        self.path = path
        self.generation = generation
        self.target = target
    }

    /// The usable results about this path. A result about an unassigned address is not usable if its network exists.
    var valid: [ProbeResult] {
        let results = results.filter { $0.generation == generation && $0.outcome != .cancelled }
        guard results.contains(where: { $0.request.subject == .unassigned }) else { return results }
        let others = results.filter { $0.request.subject != .unassigned }.compactMap(\.request.destination)
        return results.filter { result in
            guard result.request.subject == .unassigned, let address = result.request.destination else { return true }
            return !others.contains { UnassignedAddress.isOfOneNetwork($0, address) }
        }
    }

    /// True if a probe was not permitted, which makes conclusions from silence less certain.
    var lacksPermission: Bool {
        results.contains { if case .skipped(.notPermitted) = $0.outcome { true } else { false } }
    }

    /// The confidence of a conclusion from silence.
    var silence: CheckConfidence { lacksPermission ? .suspected : .likely }
}

extension NetworkPath {
    /// The interface if it is a tunnel that encapsulates packets; otherwise nil. PPP is not a tunnel, because its peer is the provider.
    var tunnel: NetworkInterface? {
        flags?.contains(.transientConnection) == true ? nil : interface.flatMap { $0.type == .tunnel ? $0 : nil }
    }
}

/// The interpretation of a single result.
extension ProbeResult {
    var kind: ProbeKind { request.kind }

    /// The ICMP error that ended the probe.
    var error: ICMPError? { if case .unreachable(let error) = outcome { error } else { nil } }

    /// True if the probe ran.
    var ran: Bool { if case .skipped = outcome { false } else { outcome != .cancelled } }

    /// True if the destination answered in any form.
    var peerAnswered: Bool {
        switch outcome {
        case .answered, .invalid(.serverFailed), .invalid(.serverRefused), .refused(.peer): true
        case .invalid: phases[.connect] != nil || evidence.tls != nil || kind == .dns || kind == .ntp
        case .unreachable(let error): error.source == .peer
        case .silent: phases[.connect] != nil
        case .refused, .blockedHere, .skipped, .cancelled: false
        }
    }

    /// The address of the host or router that answered; nil if no other machine did.
    var source: IPAddress? {
        if let error { return error.source == .thisMachine ? nil : error.sender }
        if let source = evidence.source { return source }
        return peerAnswered || outcome == .refused(.gateway) ? request.destination : nil
    }

    /// True if the probe is an echo or its substitute.
    var isEcho: Bool { kind == .echo || kind == .udp }

    /// True if the destination answers probes other than echoes.
    var answersBeyondEchoes: Bool { !isEcho && peerAnswered }

    /// The reason why this machine refused to send the packet: its packet filter, a route or a rule. Nil for another outcome. The kernel
    /// reports an unresolved neighbour similarly, but with another code.
    var refusal: ProbeReason? {
        switch outcome {
        case .blockedHere(let number): ProbeReason(refusal: number)
        case .refused(.thisMachine): .firewall
        case .unreachable(let error) where error.source == .thisMachine && error.reason != .hostUnreachable: .firewall
        default: nil
        }
    }

    var isRefusedHere: Bool { refusal != nil }

    /// True if a route or a rule refused the packet. Unlike a packet filter, these refuse all packets alike and never silently.
    var isRefusedByRoute: Bool { refusal.map { $0 != .firewall } ?? false }

    /// True if the kernel could not resolve the neighbour.
    var isNeighbourGivenUp: Bool {
        error.map { $0.source == .thisMachine && $0.reason == .hostUnreachable } ?? false
    }

    /// The error of a router on the path. An error about an address that no host has is correct, and is ignored.
    var word: ICMPError? {
        guard let error, request.subject != .unassigned else { return nil }
        switch error.source {
        case .thisMachine, .peer: return nil
        case .gateway, .hop, .unknown: return error.sender == request.destination ? nil : error
        }
    }

    /// True if a certificate or a host key was verified, which no host on the path can forge.
    var isVerified: Bool {
        evidence.ssh?.isVerified == true || evidence.tls?.isVerified == true && (outcome == .answered || kind == .http)
    }

    /// True if the nonce was echoed over plain HTTP.
    var isEchoed: Bool { kind == .http && evidence.http?.challenge == .echoed }

    /// True if the answer resembles that of a captive portal: an unexpected redirect or page, or status 511 (RFC 6585).
    var looksCaptive: Bool {
        guard kind == .http || kind == .interception, let http = evidence.http, !isVerified else { return false }
        switch request.subject {
        case .anchor: return http.challenge != .echoed && (200..<400 ~= http.status || http.status == 511)
        case .unassigned, .inventedAddress: return 200..<400 ~= http.status || http.status == 511
        default: return http.status == 511
        }
    }

    var isAnchor: Bool { if case .anchor = request.subject { true } else { false } }
    /// True if the target is the subject of the probe.
    var isTarget: Bool { request.subject == .target && kind != .resolve }
    /// True if the probe is a lookup of the target's name, which is not an answer of the target.
    var isTargetName: Bool { request.subject == .target && kind == .resolve }
    var server: IPAddress? { if case .server(let address, _) = request.subject { address } else { nil } }
    var purpose: NamePurpose? { if case .server(_, let purpose) = request.subject { purpose } else { nil } }
}
