package import LinuxSupport
package import NetworkReachability

/// The packets and bytes that a probe has sent and received, including IP headers.
public struct ProbeCost: Hashable, Sendable, Codable {
    /// Sent and received.
    public var packets: Int
    /// Sent and received.
    public var bytes: Int

    /// No packets by default.
    public init(packets: Int = 0, bytes: Int = 0) {
        self.packets = packets
        self.bytes = bytes
    }

    /// Both together.
    public static func + (one: ProbeCost, other: ProbeCost) -> ProbeCost {
        ProbeCost(packets: one.packets + other.packets, bytes: one.bytes + other.bytes)
    }
}

/// The result of one probe.
package struct ProbeResult: Hashable, Sendable {
    package var request: ProbeRequest
    /// The generation of the path when the probe began. A result of an older path is void.
    package var generation: UInt64
    /// Only phases that ended.
    package var phases: [ProbePhase: Duration] = [:]
    package var failedPhase: ProbePhase?
    package var outcome: ProbeOutcome
    package var evidence = ProbeEvidence()
    package var cost = ProbeCost()

    package init(_ request: ProbeRequest, generation: UInt64, _ outcome: ProbeOutcome) {
        self.request = request
        self.generation = generation
        self.outcome = outcome
    }
}

/// The sender of an ICMP error.
package enum Speaker: Hashable, Sendable {
    case thisMachine
    case gateway
    /// A router beyond the gateway, with its distance in hops if it is known.
    case hop(UInt8?)
    /// The destination of the packet.
    case peer
    case unknown
}

/// An ICMP error and its sender (RFC 792, RFC 4443).
package struct ICMPError: Hashable, Sendable {
    package var family: AddressFamily
    package var type: UInt8
    package var code: UInt8
    package var sender: IPAddress
    package var speaker: Speaker
    /// The MTU of the next hop in bytes, if the packet was too big for it.
    package var nextHopMTU: UInt16?

    package init(
        family: AddressFamily,
        type: UInt8,
        code: UInt8,
        sender: IPAddress,
        speaker: Speaker,
        nextHopMTU: UInt16? = nil
    ) {
        self.family = family
        self.type = type
        self.code = code
        self.sender = sender
        self.speaker = speaker
        self.nextHopMTU = nextHopMTU
    }

    /// The meaning of type and code. An errno is less precise, and differs between families.
    package var reason: ProbeReason {
        switch (family, type, code) {
        case (.ipv4, 3, 0), (.ipv4, 3, 6), (.ipv6, 1, 0): .noRouteBeyond
        case (.ipv4, 3, 1), (.ipv4, 3, 7), (.ipv6, 1, 3): .hostUnreachable
        case (.ipv4, 3, 3), (.ipv6, 1, 4): .refusedByFirewall
        case (.ipv4, 3, 4), (.ipv6, 2, _): .fragmentationNeeded
        case (.ipv4, 3, 9), (.ipv4, 3, 10), (.ipv4, 3, 13), (.ipv6, 1, 1), (.ipv6, 1, 5), (.ipv6, 1, 6): .prohibited
        case (.ipv4, 11, _), (.ipv6, 3, _): .hopLimitExceeded
        default: .hostUnreachable
        }
    }
}

/// The reason why nothing was sent.
package enum SkipReason: String, Hashable, Sendable, Codable {
    case notPermitted, noDescriptors, interfaceGone, overBudget, notNeeded, reversePathFilter
}

/// The outcome of a probe.
package enum ProbeOutcome: Hashable, Sendable {
    /// The expected answer. For TLS, the certificate is trusted.
    case answered
    /// A reset, or an ICMP error about a closed port from its host.
    case refused(Speaker)
    case unreachable(ICMPError)
    /// This machine refused to send it: the error number of `socket(2)`, `bind(2)`, `connect(2)` or `send(2)`. Nothing left the machine.
    case blockedHere(Int32)
    case silent
    /// An answer that is not the expected one.
    case invalid(ProbeReason)
    case skipped(SkipReason)
    case cancelled
}

/// The observations of a probe beside its outcome; nil for what it did not observe.
package struct ProbeEvidence: Hashable, Sendable {
    package var local: IPAddress?
    package var remote: IPAddress?
    /// The router that answered, for a probe of a hop.
    package var speaker: IPAddress?
    package var interface: String?
    /// As the kernel measured it: `tcpi_rtt` of `tcp(7)`, or the difference of its timestamps.
    package var kernelRoundTrip: Duration?
    /// The time from the first send to the first answer.
    package var firstAnswer: Duration?
    package var retransmits: Int?
    package var lost: Int?
    /// In bytes.
    package var pathMTU: Int?
    /// In bytes.
    package var segmentSize: Int?
    /// The hop limit that the answer arrived with.
    package var replyHopLimit: UInt8?
    package var neighbour: NeighbourFacts?
    /// The result of `getaddrinfo(3)`.
    package var addresses: [IPAddress] = []
    package var dns: DNSFacts?
    package var http: HTTPFacts?
    package var tls: TLSFacts?
    package var portal: PortalInformation?

    package init() {}
}

/// The gateway's entry in the neighbour table before and after a probe, `ip-neighbour(8)`.
package struct NeighbourFacts: Hashable, Sendable {
    /// NUD_* of `<linux/neighbour.h>`.
    package enum State: String, Hashable, Sendable, CaseIterable, Codable {
        case none, incomplete, reachable, stale, delay, probe, failed, noarp, permanent
    }

    package var before: State
    package var after: State
    /// The time from the first packet until `after` was read.
    package var age: Duration
    /// The time from the kernel's last confirmation until `after` was read; nil without a confirmation.
    package var confirmedAge: Duration?
    /// Whether two stations answer for one address (RFC 5227).
    package var isContested: Bool

    package init(
        before: State,
        after: State,
        age: Duration,
        confirmedAge: Duration? = nil,
        isContested: Bool = false
    ) {
        self.before = before
        self.after = after
        self.age = age
        self.confirmedAge = confirmedAge
        self.isContested = isContested
    }

    /// A resolution takes three tries of a second. An earlier failure may belong to a resolution that began before the packet.
    private static let resolution = Duration.seconds(3)

    /// Whether the gateway did not answer the resolution that the packet caused.
    package var provesDeath: Bool { after == .failed && age >= Self.resolution }

    /// Whether the gateway answered after the packet: it became reachable, or was confirmed since. The kernel reports hundredths of a
    /// second.
    package var provesLife: Bool {
        guard after == .reachable, let confirmedAge else { return false }
        return before != .reachable || confirmedAge + .milliseconds(20) < age
    }
}

/// The answer of a DNS server, or the question to a silent one.
package struct DNSFacts: Hashable, Sendable {
    /// A or AAAA, by its number (RFC 1035, RFC 3596).
    package var type: DNSRecordType
    package var code: DNSResponseCode
    package var addresses: [IPAddress]
    /// EDE (RFC 8914).
    package var extendedErrors: [UInt16]
    package var isTruncated: Bool
    /// Whether the server is recursive (RA).
    package var isRecursive = true

    package init(
        _ type: DNSRecordType,
        code: DNSResponseCode = .noError,
        addresses: [IPAddress] = [],
        extendedErrors: [UInt16] = [],
        isTruncated: Bool = false
    ) {
        self.type = type
        self.code = code
        self.addresses = addresses
        self.extendedErrors = extendedErrors
        self.isTruncated = isTruncated
    }

    /// The addresses of `ipv4only.arpa` (RFC 7050).
    package static let everybodyKnows = Set([0xc000_00aa, 0xc000_00ab].map { IPAddress(WireAddress(ipv4: $0)) })

    /// Whether a filter made this answer: EDE 15 to 18.
    package var isBlocked: Bool { extendedErrors.contains { (15...18).contains($0) } }
}

/// The response of an HTTP server.
package struct HTTPFacts: Hashable, Sendable {
    package enum Challenge: String, Hashable, Sendable, Codable {
        /// The random number was repeated.
        case echoed
        /// The random number was not repeated.
        case missing
        case notAsked
    }

    package var status: Int
    package var location: String?
    package var challenge: Challenge
    /// The difference between the server's clock and this machine's (RFC 9110, `Date`).
    package var clockOffset: Duration?
    /// The time in which the server wants no request (RFC 9110, `Retry-After`).
    package var retryAfter: Duration?

    package init(
        status: Int,
        location: String? = nil,
        challenge: Challenge = .notAsked,
        clockOffset: Duration? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.location = location
        self.challenge = challenge
        self.clockOffset = clockOffset
        self.retryAfter = retryAfter
    }
}

/// The certificate and parameters of a TLS handshake.
package struct TLSFacts: Hashable, Sendable {
    package var version: String?
    package var applicationProtocol: String?
    /// Of the leaf certificate.
    package var issuer: String?
    /// Whether the chain was trusted for the requested name.
    package var isVerified: Bool

    package init(isVerified: Bool, issuer: String? = nil, version: String? = nil, applicationProtocol: String? = nil) {
        self.isVerified = isVerified
        self.issuer = issuer
        self.version = version
        self.applicationProtocol = applicationProtocol
    }
}
