import LinuxSupport
import NetworkReachability

/// The packets and bytes that a probe sent and received, including IP headers.
public struct ProbeCost: Hashable, Sendable, Codable {
    /// The number of packets, sent and received.
    public var packets: Int
    /// The number of bytes, sent and received.
    public var bytes: Int

    /// Creates a cost. The default is no packets.
    public init(packets: Int = 0, bytes: Int = 0) {
        self.packets = packets
        self.bytes = bytes
    }

    /// Adds two costs.
    public static func + (one: ProbeCost, other: ProbeCost) -> ProbeCost {
        ProbeCost(packets: one.packets + other.packets, bytes: one.bytes + other.bytes)
    }
}

/// The result of one probe.
struct ProbeResult: Hashable, Sendable {
    var request: ProbeRequest
    /// The generation of the path at the start of the probe. A result about an older path is void.
    var generation: UInt64
    /// The durations of the completed phases.
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

/// The origin of an ICMP error.
enum ICMPSource: Hashable, Sendable {
    case thisMachine
    case gateway
    /// A router beyond the gateway. The value is its distance in hops, if known.
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
    var source: ICMPSource
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

/// The reason why no packet was sent.
enum SkipReason: String, Hashable, Sendable, Codable {
    case notPermitted, noDescriptors, interfaceGone, overBudget, notNeeded, reversePathFilter
}

/// The outcome of a probe.
enum ProbeOutcome: Hashable, Sendable {
    /// The expected answer arrived. For TLS, the certificate is trusted.
    case answered
    /// A TCP reset, or an ICMP error about a closed port from the destination.
    case refused(ICMPSource)
    case unreachable(ICMPError)
    /// This machine refused to send the packet. The value is the error number of `socket(2)`, `bind(2)`, `connect(2)` or `send(2)`.
    case blockedHere(Int32)
    case silent
    /// The answer is not the expected one.
    case invalid(ProbeReason)
    case skipped(SkipReason)
    case cancelled
}

/// The observations of a probe in addition to its outcome. A property without an observation is nil.
struct ProbeEvidence: Hashable, Sendable {
    /// The router or host that answered a probe of a hop.
    var source: IPAddress?
    /// The round-trip time that the kernel measured: `tcpi_rtt` of `tcp(7)`, or the difference of its time stamps.
    var kernelRoundTrip: Duration?
    /// The time from the first send to the first answer.
    var firstAnswer: Duration?
    var retransmits: Int?
    var lost: Int?
    /// The number of bytes that arrived on the connection.
    var received: Int?
    /// The path MTU in bytes.
    var pathMTU: Int?
    /// The segment size in bytes.
    var segmentSize: Int?
    /// The hop limit of the received answer.
    var replyHopLimit: UInt8?
    var neighbour: NeighbourFacts?
    /// The addresses that `getaddrinfo(3)` returned.
    var addresses: [IPAddress] = []
    var dns: DNSFacts?
    var http: HTTPFacts?
    var tls: TLSFacts?
    var portal: PortalInformation?
    var ssh: SSHFacts?
    var ntp: NTPFacts?
    /// The difference between the answer and the expected one, as a part of a sentence.
    var detail: String?
}

/// The gateway's entry in the neighbour table before and after a probe (`ip-neighbour(8)`).
package struct NeighbourFacts: Hashable, Sendable {
    /// The state of the entry: NUD_* of `<linux/neighbour.h>`.
    package enum State: String, Hashable, Sendable, CaseIterable, Codable {
        case none, incomplete, reachable, stale, delay, probe, failed, noarp, permanent
    }

    package var before: State
    package var after: State
    /// The time between the first packet and the reading of `after`.
    package var age: Duration
    /// The time between the kernel's last confirmation and the reading of `after`; nil without a confirmation.
    package var confirmedAge: Duration?
    /// Whether two stations use the address (RFC 5227).
    package var isContested = false

    /// The duration of a resolution: three requests of one second each. An earlier failure may be that of a resolution that began before
    /// the packet was sent.
    private static let resolution = Duration.seconds(3)

    /// True if the gateway did not answer the resolution that the packet started.
    package var provesDeath: Bool { after == .failed && age >= Self.resolution }

    /// True if the gateway answered after the packet was sent: the entry became reachable, or was confirmed since. The kernel reports times
    /// in units of 10 ms.
    package var provesLife: Bool {
        guard after == .reachable, let confirmedAge else { return false }
        return before != .reachable || confirmedAge + .milliseconds(20) < age
    }
}

/// The answer of a DNS server, or the question to a silent server.
struct DNSFacts: Hashable, Sendable {
    /// The type of the question.
    var type: DNSRecordType
    var code: DNSResponseCode
    var addresses: [IPAddress]
    /// The records of the requested type in their usual notation, for types other than A and AAAA.
    var records: [String] = []
    /// The extended DNS errors (EDE, RFC 8914).
    var extendedErrors: [UInt16]
    var isTruncated: Bool
    /// True if the server offers recursion (flag RA).
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

    /// The fixed addresses of `ipv4only.arpa` (RFC 7050).
    static let fixedAddresses = Set([0xc000_00aa, 0xc000_00ab].map { IPAddress(WireAddress(ipv4: $0)) })

    /// True if a filter produced this answer (EDE 15 to 18).
    var isBlocked: Bool { extendedErrors.contains { (15...18).contains($0) } }
}

/// The response of an HTTP server.
struct HTTPFacts: Hashable, Sendable {
    enum Challenge: String, Hashable, Sendable, Codable {
        /// The server echoed the nonce.
        case echoed
        /// The server did not echo the nonce.
        case missing
        case notAsked
    }

    var status: Int
    var location: String?
    var challenge = Challenge.notAsked
    /// The offset of the server's clock from this machine's clock (`Date` of RFC 9110).
    var clockOffset: Duration?
    /// The time during which the server asks for no more requests (`Retry-After` of RFC 9110).
    var retryAfter: Duration?
    /// The complete target of a redirect. It may contain secrets.
    var redirect: String?
    /// The URL that answered after redirects, without its query; nil without redirects.
    var finalURL: String?
}

/// The certificate and the parameters of a TLS handshake.
struct TLSFacts: Hashable, Sendable {
    /// True if the certificate chain is trusted for the requested name.
    var isVerified: Bool
    /// The issuer of the server's certificate.
    var issuer: String?
    /// The end of the validity of the server's certificate, since 1970.
    var validUntil: Duration?
    var version: String?
    var applicationProtocol: String?
    /// The number of whole days until the server's certificate expires.
    var daysLeft: Int?
}

/// The beginning of an SSH connection.
struct SSHFacts: Hashable, Sendable {
    /// The identification of the server, for example `SSH-2.0-OpenSSH_9.2`. Control characters are escaped.
    var identification: String
    /// The SHA-256 fingerprint of the host key, as `ssh-keygen -l` prints it; nil without a key exchange.
    var hostKey: String?
    /// True if the server has proven with a signature that it owns an expected key.
    var isVerified = false
}

/// The answer of a time server.
struct NTPFacts: Hashable, Sendable {
    /// The distance from a reference clock: 1 for a server with its own clock.
    var stratum: UInt8
    /// True if the server is not synchronized (leap indicator 3).
    var isAlarmed: Bool
    /// The offset of the server's clock from this machine's clock. It does not affect the verdict.
    var offset: Duration?
}
