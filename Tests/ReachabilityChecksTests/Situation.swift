import LinuxSupport
import NetworkReachability

@testable import ReachabilityChecks

/// The evidence in a situation, built step by step.
struct Situation {
    var evidence: CheckEvidence
    private var family = AddressFamily.ipv4

    static let gateway = address("10.1.0.1")
    static let hop = address("10.9.0.2")
    static let resolver = address("198.51.100.53")
    static let host = address("203.0.113.7")

    static func address(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(WireAddress.ipv6Loopback) }

    init(
        _ target: CheckTarget? = nil,
        reason: NetworkPath.UnsatisfiedReason? = nil,
        gateway: IPAddress? = Situation.gateway
    ) {
        var path = NetworkPath(flags: reason == nil ? [.reachable] : [], reason: reason)
        path.gateway = gateway
        evidence = CheckEvidence(path: path, target: target)
    }

    func over(_ family: AddressFamily) -> Situation { changed { $0.family = family } }

    func changed(_ change: (inout Situation) -> Void) -> Situation {
        var copy = self
        change(&copy)
        return copy
    }

    func adding(
        _ kind: ProbeKind,
        _ subject: ProbeSubject,
        _ outcome: ProbeOutcome,
        to destination: IPAddress? = nil,
        generation: UInt64 = 1,
        _ facts: (inout ProbeResult) -> Void = { _ in }
    ) -> Situation {
        changed {
            let request = ProbeRequest(kind, subject, binding: ProbeBinding(family: family), destination: destination)
            var result = ProbeResult(request, generation: generation, outcome)
            facts(&result)
            $0.evidence.results.append(result)
        }
    }

    // MARK: The uplink

    func gateway(_ outcome: ProbeOutcome, _ neighbour: NeighbourFacts? = nil) -> Situation {
        adding(.gateway, .line, outcome, to: Self.gateway) { $0.evidence.neighbour = neighbour }
    }

    func hop(_ outcome: ProbeOutcome = .answered) -> Situation {
        adding(.hop, .line, outcome, to: Self.host) { $0.evidence.source = outcome == .answered ? Self.hop : nil }
    }

    /// Adds the answer of a DNS server to the question for a known name.
    func server(
        _ outcome: ProbeOutcome = .answered,
        _ address: IPAddress = resolver,
        code: DNSResponseCode = .noError
    ) -> Situation {
        asked(
            .known,
            outcome,
            address,
            code: code,
            addresses: outcome == .answered && code == .noError ? ["192.0.0.170"] : []
        )
    }

    func asked(
        _ purpose: NamePurpose,
        _ outcome: ProbeOutcome = .answered,
        _ server: IPAddress = resolver,
        _ type: DNSRecordType = .a,
        code: DNSResponseCode = .noError,
        addresses: [String] = []
    ) -> Situation {
        adding(.dns, .server(server, purpose), outcome, to: server) {
            $0.evidence.dns = DNSFacts(type, code: code, addresses: addresses.compactMap { IPAddress($0) })
        }
    }

    /// Adds a DNS server that answers neither for A nor for AAAA.
    func silent(_ purpose: NamePurpose, _ server: IPAddress = resolver) -> Situation {
        asked(purpose, .silent, server, .aaaa).asked(purpose, .silent, server)
    }

    // MARK: Anchors

    func verified(_ host: String = "a.example", status: Int = 204) -> Situation {
        adding(.http, .anchor(host), .answered) {
            $0.evidence.tls = TLSFacts(isVerified: true)
            $0.evidence.http = HTTPFacts(status: status)
        }
    }

    func echoed(_ host: String = "a.example", offset: Duration = .zero) -> Situation {
        adding(.http, .anchor(host), .answered) {
            $0.evidence.http = HTTPFacts(status: 204, challenge: .echoed, clockOffset: offset)
        }
    }

    func anchor(_ outcome: ProbeOutcome, _ host: String = "a.example", _ kind: ProbeKind = .tcp) -> Situation {
        adding(kind, .anchor(host), outcome, to: Self.host)
    }

    func page(_ subject: ProbeSubject, _ status: Int, location: String? = nil) -> Situation {
        adding(subject == .unassigned ? .interception : .http, subject, .answered) {
            $0.evidence.http = HTTPFacts(status: status, location: location, challenge: .missing)
        }
    }

    func handshake(_ subject: ProbeSubject, _ reason: ProbeReason, issuer: String? = nil) -> Situation {
        adding(.tls, subject, .invalid(reason)) { $0.evidence.tls = TLSFacts(isVerified: false, issuer: issuer) }
    }

    // MARK: The target

    func target(_ kind: ProbeKind, _ outcome: ProbeOutcome, connected: Bool = false) -> Situation {
        adding(kind, .target, outcome, to: Self.host) {
            if connected { $0.phases[.connect] = .milliseconds(1) }
        }
    }

    var allWell: Situation { gateway(.answered).hop().server().verified() }

    static func error(_ type: UInt8, _ code: UInt8, _ source: ICMPSource, _ sender: IPAddress? = nil) -> ProbeOutcome {
        let sender = sender ?? (source == .gateway ? gateway : source == .peer ? host : address("10.1.0.7"))
        return .unreachable(ICMPError(family: .ipv4, type: type, code: code, sender: sender, source: source))
    }

    var verdict: CheckVerdict { CheckJudge.judge(evidence) }
}
