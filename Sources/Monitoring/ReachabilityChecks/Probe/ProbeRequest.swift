import LinuxSupport
package import NetworkReachability

/// The socket options of a probe. If an option is nil, the kernel chooses.
struct ProbeBinding: Hashable, Sendable {
    var family: AddressFamily
    /// The source address, `bind(2)`.
    var source: IPAddress?
    /// SO_BINDTODEVICE of `socket(7)`.
    var interface: String?
    /// The firewall mark (SO_MARK of `socket(7)`). Setting it requires CAP_NET_ADMIN or CAP_NET_RAW.
    var mark: UInt32?
    var namespace = NetworkNamespace.current
    /// The maximum segment size in bytes (TCP_MAXSEG of `tcp(7)`).
    var maximumSegment: UInt16?
}

/// The purpose of a DNS question.
package enum NamePurpose: Hashable, Sendable {
    /// `ipv4only.arpa`, whose addresses are fixed (RFC 7050).
    case known
    /// A random name below `.invalid`, which does not exist (RFC 6761).
    case invented
    /// The target's name.
    case target
    /// A name whose addresses the user expects.
    case expected(String)
}

/// The subject of a probe.
package enum ProbeSubject: Hashable, Sendable {
    /// The uplink: the gateway, the hops behind it, and the kernel's facts.
    case line
    case server(IPAddress, NamePurpose)
    /// An anchor, by its host. All URLs of one host count as one anchor.
    case anchor(String)
    case target
    /// An address that no host has.
    case unassigned
    /// An address that a DNS server returned for a name that does not exist.
    case inventedAddress
    /// The captive portal API of the network (RFC 8908).
    case portal
}

/// The parameters of a probe.
struct ProbeRequest: Hashable, Sendable {
    var kind: ProbeKind
    var subject: ProbeSubject
    var binding: ProbeBinding
    /// The destination of packets; nil if only the kernel is queried.
    var destination: IPAddress?
    var port: UInt16?
    /// The size of the IP packet in bytes, for a probe of the MTU.
    var size: Int?
    /// The maximum duration.
    var limit: Duration

    init(
        _ kind: ProbeKind,
        _ subject: ProbeSubject,
        binding: ProbeBinding,
        destination: IPAddress? = nil,
        port: UInt16? = nil,
        limit: Duration = .milliseconds(3400)
    ) {
        self.kind = kind
        self.subject = subject
        self.binding = binding
        self.destination = destination
        self.port = port
        self.limit = limit
    }
}

/// The kind of a probe.
public enum ProbeKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// No packet: the kernel's facts about the gateway and about connections of other programs.
    case passive
    /// A packet to a closed port of the gateway, an echo, and a packet whose hop limit ends there.
    case gateway
    /// A packet whose hop limit expires beyond the gateway.
    case hop
    /// An ICMP echo (RFC 792, RFC 4443).
    case echo
    /// A TCP connection.
    case tcp
    /// A UDP datagram that must be answered.
    case udp
    /// A question to a DNS server (RFC 1035).
    case dns
    /// A lookup by the name service of the system, `getaddrinfo(3)`.
    case resolve
    /// A TLS handshake with evaluation of the certificate.
    case tls
    /// An HTTP request. Only the redirects of a target are followed, if it permits them.
    case http
    /// A connection to an address that no host has (RFC 5737, RFC 3849). An answer shows an interception.
    case interception
    /// A request to the captive portal API (RFC 8908).
    case portalAPI
    /// The identification of an SSH server (RFC 4253), and its host key if one is expected.
    case ssh
    /// A request to a time server (RFC 5905).
    case ntp
    /// A stalled request repeated with small segments, or a packet of the link's size to a target that answers.
    case mtu
}

/// The phases of a probe in their order.
public enum ProbePhase: String, Hashable, Sendable, CaseIterable, Codable {
    case resolve, connect, tls, request, firstByte, transfer
}
