/// What a probe does to learn something.
public enum ProbeKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// Sends nothing: what the kernel knows of the gateway and of connections that others have open.
    case passive
    /// A packet to the gateway's closed port, an echo, and one that dies there.
    case gateway
    /// A packet whose hop limit ends beyond the gateway.
    case hop
    /// An ICMP echo (RFC 792, RFC 4443).
    case echo
    /// A TCP connection.
    case tcp
    /// A UDP datagram that an answer is expected to.
    case udp
    /// A question to one DNS server (RFC 1035).
    case dns
    /// What programs get of the name service, `getaddrinfo(3)`.
    case resolve
    /// A TLS handshake, its certificate judged.
    case tls
    /// One request of HTTP; redirects are not followed.
    case http
    /// A connection to an address that nobody has (RFC 5737, RFC 3849): whoever answers intercepts.
    case interception
    /// The question whether the network is captive (RFC 8908).
    case portalAPI
    /// What stalled, once more with small segments; or a packet as large as the link, to a target that answers.
    case mtu
}

/// A part of a probe, in the order in which they follow each other.
public enum ProbePhase: String, Hashable, Sendable, CaseIterable, Codable {
    case resolve, connect, tls, request, firstByte, transfer
}
