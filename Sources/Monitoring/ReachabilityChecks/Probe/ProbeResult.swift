import LinuxSupport
import NetworkReachability

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
struct ProbeResult: Hashable, Sendable {
    var request: ProbeRequest
    /// The generation of the path when the probe began. A result of an older path is void.
    var generation: UInt64
    /// Only phases that ended.
    var phases: [ProbePhase: Duration] = [:]
    var failedPhase: ProbePhase?
    var outcome: ProbeOutcome
    var evidence = ProbeEvidence()
    var cost = ProbeCost()

    init(_ request: ProbeRequest, generation: UInt64, _ outcome: ProbeOutcome) {
        self.request = request
        self.generation = generation
        self.outcome = outcome
    }
}

/// The sender of an ICMP error.
enum Speaker: Hashable, Sendable {
    case thisMachine
    case gateway
    /// A router beyond the gateway, with its distance in hops if it is known.
    case hop(UInt8?)
    /// The destination of the packet.
    case peer
    case unknown
}

/// An ICMP error and its sender (RFC 792, RFC 4443).
struct ICMPError: Hashable, Sendable {
    var family: AddressFamily
    var type: UInt8
    var code: UInt8
    var sender: IPAddress
    var speaker: Speaker
    /// The MTU of the next hop in bytes, if the packet was too big for it.
    var nextHopMTU: UInt16?

    /// The meaning of type and code. An errno is less precise, and differs between families.
    var reason: ProbeReason {
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
enum SkipReason: String, Hashable, Sendable, Codable {
    case notPermitted, noDescriptors, interfaceGone, overBudget, notNeeded, reversePathFilter
}

/// The outcome of a probe.
enum ProbeOutcome: Hashable, Sendable {
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
struct ProbeEvidence: Hashable, Sendable {
    var local: IPAddress?
    var remote: IPAddress?
    /// The router that answered, for a probe of a hop.
    var speaker: IPAddress?
    var interface: String?
    /// As the kernel measured it: `tcpi_rtt` of `tcp(7)`, or the difference of its timestamps.
    var kernelRoundTrip: Duration?
    /// The time from the first send to the first answer.
    var firstAnswer: Duration?
    var retransmits: Int?
    var lost: Int?
    /// In bytes.
    var pathMTU: Int?
    /// In bytes.
    var segmentSize: Int?
    /// The hop limit that the answer arrived with.
    var replyHopLimit: UInt8?
    var neighbour: NeighbourFacts?
    /// The result of `getaddrinfo(3)`.
    var addresses: [IPAddress] = []
    var dns: DNSFacts?
    var http: HTTPFacts?
    var tls: TLSFacts?
    var portal: PortalInformation?
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
    package var isContested = false

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
struct DNSFacts: Hashable, Sendable {
    /// A or AAAA, by its number (RFC 1035, RFC 3596).
    var type: DNSRecordType
    var code: DNSResponseCode
    var addresses: [IPAddress]
    /// EDE (RFC 8914).
    var extendedErrors: [UInt16]
    var isTruncated: Bool
    /// Whether the server is recursive (RA).
    var isRecursive = true

    init(
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
    static let everybodyKnows = Set([0xc000_00aa, 0xc000_00ab].map { IPAddress(WireAddress(ipv4: $0)) })

    /// Whether a filter made this answer: EDE 15 to 18.
    var isBlocked: Bool { extendedErrors.contains { (15...18).contains($0) } }
}

/// The response of an HTTP server.
struct HTTPFacts: Hashable, Sendable {
    enum Challenge: String, Hashable, Sendable, Codable {
        /// The random number was repeated.
        case echoed
        /// The random number was not repeated.
        case missing
        case notAsked
    }

    var status: Int
    var location: String?
    var challenge = Challenge.notAsked
    /// The difference between the server's clock and this machine's (RFC 9110, `Date`).
    var clockOffset: Duration?
    /// The time in which the server wants no request (RFC 9110, `Retry-After`).
    var retryAfter: Duration?
}

/// The certificate and parameters of a TLS handshake.
struct TLSFacts: Hashable, Sendable {
    /// Whether the chain was trusted for the requested name.
    var isVerified: Bool
    /// Of the leaf certificate.
    var issuer: String?
    var version: String?
    var applicationProtocol: String?
}
