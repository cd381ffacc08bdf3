public import NetworkReachability

/// One probe of a check, and what it saw; what it did not look at, or did not see, is nil.
public struct CheckProbe: Hashable, Sendable {
    package let result: ProbeResult

    init(_ result: ProbeResult) {
        self.result = result
    }

    /// How a probe ended. The raw value is the name in JSON output.
    public enum Outcome: String, Hashable, Sendable, CaseIterable, Codable {
        /// As it should.
        case answered
        /// A reset, or a closed port that its host tells of.
        case refused
        /// Somebody says so by ICMP: ``CheckProbe/error``.
        case unreachable
        /// This machine refused to send it: ``CheckProbe/reason``.
        case blockedHere
        case silent
        /// An answer that is not as it should be: ``CheckProbe/reason``.
        case invalid
        /// Nothing was sent: ``CheckProbe/reason``.
        case skipped
        case cancelled
    }

    /// What an ICMP error says, and who says so (RFC 792, RFC 4443).
    public struct Error: Hashable, Sendable {
        /// Who sent it.
        public let sender: IPAddress
        /// By the numbers of the family.
        public let type: UInt8
        /// By the numbers of the type.
        public let code: UInt8
        /// The MTU of the next hop in bytes, where the packet was too big for it.
        public let nextHopMTU: UInt16?
    }

    /// What it does to learn something.
    public var kind: ProbeKind { result.request.kind }
    /// The family it was sent over.
    public var family: CheckOptions.Family { .init(result.request.binding.family) }
    /// Where packets went; nil where the kernel alone was asked.
    public var destination: IPAddress? { result.request.destination }
    /// The port of that.
    public var port: UInt16? { result.request.port }
    /// Only phases that ended.
    public var phases: [ProbePhase: Duration] { result.phases }
    /// In which it ended, if that was not well.
    public var failedPhase: ProbePhase? { result.failedPhase }
    /// What was sent and received.
    public var cost: ProbeCost { result.cost }

    /// How it ended.
    public var outcome: Outcome {
        switch result.outcome {
        case .answered: .answered
        case .refused: .refused
        case .unreachable: .unreachable
        case .blockedHere: .blockedHere
        case .silent: .silent
        case .invalid: .invalid
        case .skipped: .skipped
        case .cancelled: .cancelled
        }
    }

    /// Why it ended so, where there is more to say.
    public var reason: ProbeReason? {
        switch result.outcome {
        case .unreachable(let error): error.reason
        case .invalid(let reason): reason
        case .blockedHere(let number): ProbeReason(refusal: number)
        case .skipped(let reason): ProbeReason(rawValue: reason.rawValue)
        default: nil
        }
    }

    /// The error it ended with.
    public var error: Error? {
        guard case .unreachable(let error) = result.outcome else { return nil }
        return Error(sender: error.sender, type: error.type, code: error.code, nextHopMTU: error.nextHopMTU)
    }

    // MARK: What it saw

    /// Whether it is about the target or the target's name.
    package var isAboutTarget: Bool { result.request.subject == .target || result.purpose == .target }
    /// Who answered, where that need not be whoever was asked: a hop.
    public var speaker: IPAddress? { result.evidence.speaker }
    /// As the kernel measured it: `tcpi_rtt` of `tcp(7)`, or the difference of its time stamps.
    public var roundTrip: Duration? { result.evidence.kernelRoundTrip }
    /// Segments that were sent again (`tcpi_total_retrans`).
    public var retransmits: Int? { result.evidence.retransmits }
    /// Segments that are taken for lost (`tcpi_lost`).
    public var lost: Int? { result.evidence.lost }
    /// What the kernel believes of the way, in bytes (`tcpi_pmtu`).
    public var pathMTU: Int? { result.evidence.pathMTU }
    /// The hop limit that the answer arrived with.
    public var replyHopLimit: UInt8? { result.evidence.replyHopLimit }
    /// What the name service, or one server, gave.
    public var addresses: [IPAddress] { result.evidence.dns?.addresses ?? result.evidence.addresses }
    /// The code of a DNS server's answer (RFC 1035).
    public var responseCode: UInt16? { result.evidence.dns?.code.rawValue }
    /// What else it says of that (RFC 8914).
    public var extendedErrors: [UInt16] { result.evidence.dns?.extendedErrors ?? [] }
    /// The status of HTTP.
    public var status: Int? { result.evidence.http?.status }
    /// Where that leads; nobody has gone there.
    public var location: String? { result.evidence.http?.location }
    /// Whether the random number came back; nil where it was not asked for.
    public var isChallengeAnswered: Bool? {
        result.evidence.http.flatMap { $0.challenge == .notAsked ? nil : $0.challenge == .echoed }
    }
    /// How far the server's clock is ahead of ours (`Date` of RFC 9110).
    public var clockOffset: Duration? { result.evidence.http?.clockOffset }
    /// Whether the certificate was trusted, for the name that was asked for; nil where none was shown.
    public var isVerified: Bool? { result.evidence.tls?.isVerified }
    /// Who has issued it, as the certificate says.
    public var issuer: String? { result.evidence.tls?.issuer }
    /// `1.2` or `1.3`.
    public var tlsVersion: String? { result.evidence.tls?.version }
    /// What was agreed on by ALPN (RFC 7301).
    public var applicationProtocol: String? { result.evidence.tls?.applicationProtocol }
    /// Whether the network says that it is captive (RFC 8908).
    public var isCaptive: Bool? { result.evidence.portal?.isCaptive }
}

extension CheckReport {
    /// Every probe, in the order in which they ended.
    public var allProbes: [CheckProbe] { probes.map(CheckProbe.init) }
}

extension CheckVerdict {
    /// The probes that decided; none where the kernel's own word did.
    public var decidingProbes: [CheckProbe] { evidence.map(CheckProbe.init) }
}
