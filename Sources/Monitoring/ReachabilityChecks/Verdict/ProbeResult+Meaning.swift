import LinuxSupport
import NetworkReachability

/// What a single result means, whatever the others say.
extension ProbeResult {
    var kind: ProbeKind { request.kind }

    /// The ICMP error, if that ended it.
    var error: ICMPError? { if case .unreachable(let error) = outcome { error } else { nil } }

    /// Whether it ran; a probe that could not says nothing.
    var ran: Bool { if case .skipped = outcome { false } else { outcome != .cancelled } }

    /// Whether whoever was asked said something, whatever it was.
    var peerSpoke: Bool {
        switch outcome {
        case .answered, .invalid(.serverFailed), .invalid(.serverRefused), .refused(.peer): true
        case .invalid: phases[.connect] != nil || evidence.tls != nil || kind == .dns
        case .unreachable(let error): error.speaker == .peer
        case .silent: phases[.connect] != nil
        case .refused, .blockedHere, .skipped, .cancelled: false
        }
    }

    /// The address of the host or router that has spoken; nil if none has, or none but this machine.
    var speaker: IPAddress? {
        if let error { return error.speaker == .thisMachine ? nil : error.sender }
        if let speaker = evidence.speaker { return speaker }
        return peerSpoke || outcome == .refused(.gateway) ? request.destination : nil
    }

    /// An echo, or what stands in for one.
    var isEcho: Bool { kind == .echo || kind == .udp }

    /// Whether more gets through to whoever was asked than echoes.
    var saysMoreThanEchoes: Bool { !isEcho && peerSpoke }

    /// The reason why this machine itself refused to send the packet: its packet filter, a route or a rule. Nil for anything else. The
    /// kernel reports a neighbour that does not answer like a packet filter, with another code.
    var refusal: ProbeReason? {
        switch outcome {
        case .blockedHere(let number): ProbeReason(refusal: number)
        case .refused(.thisMachine): .firewall
        case .unreachable(let error) where error.speaker == .thisMachine && error.reason != .hostUnreachable: .firewall
        default: nil
        }
    }

    var isRefusedHere: Bool { refusal != nil }

    /// Whether a route or a rule refused it. Unlike a packet filter, these refuse every packet alike and never in silence.
    var isRefusedByRoute: Bool { refusal.map { $0 != .firewall } ?? false }

    /// Whether the kernel gave up on the neighbour.
    var isNeighbourGivenUp: Bool {
        error.map { $0.speaker == .thisMachine && $0.reason == .hostUnreachable } ?? false
    }

    /// An error of a router on the way. A provider that has no route to an address that nobody has is right, and so that counts nothing.
    var word: ICMPError? {
        guard let error, request.subject != .nobody else { return nil }
        switch error.speaker {
        case .thisMachine, .peer: return nil
        case .gateway, .hop, .unknown: return error.sender == request.destination ? nil : error
        }
    }

    /// Whether a certificate was verified: nobody in between can do that.
    var isVerified: Bool { evidence.tls?.isVerified == true && (outcome == .answered || kind == .http) }

    /// Whether our own random number came back over plain HTTP.
    var isEchoed: Bool { kind == .http && evidence.http?.challenge == .echoed }

    /// Whether it looks as captive portals answer: a redirection, a page, or 511 (RFC 6585), where none of that belongs.
    var looksCaptive: Bool {
        guard kind == .http || kind == .interception, let http = evidence.http, !isVerified else { return false }
        switch request.subject {
        case .anchor: return http.challenge != .echoed && (200..<400 ~= http.status || http.status == 511)
        case .nobody, .lure: return 200..<400 ~= http.status || http.status == 511
        default: return http.status == 511
        }
    }

    var isAnchor: Bool { if case .anchor = request.subject { true } else { false } }
    /// Whether it asked the target itself.
    var isTarget: Bool { request.subject == .target && kind != .resolve }
    /// Whether it is what programs get for the target's name, over both families: where the target is, and no sign of life.
    var isTargetName: Bool { request.subject == .target && kind == .resolve }
    var server: IPAddress? { if case .server(let address, _) = request.subject { address } else { nil } }
    var purpose: NamePurpose? { if case .server(_, let purpose) = request.subject { purpose } else { nil } }
}
