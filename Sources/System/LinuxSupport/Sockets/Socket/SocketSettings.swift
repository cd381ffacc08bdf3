/// How packets leave: all of it is optional, and what is not said is left to the system.
package struct SocketSettings: Hashable, Sendable {
    /// The source address (`bind(2)`).
    package var source: SocketEndpoint?
    /// The only interface packets may leave and come by (SO_BINDTODEVICE).
    package var interface: String?
    /// The mark that rules and firewalls see (SO_MARK); needs CAP_NET_ADMIN or CAP_NET_RAW.
    package var mark: UInt32?
    /// How many routers may forward a packet, plus one (IP_TTL, IPV6_UNICAST_HOPS).
    package var hopLimit: UInt8?
    /// The largest payload of a TCP segment, in bytes (TCP_MAXSEG).
    package var maximumSegment: UInt16?
    /// The priority for queueing disciplines (SO_PRIORITY), 0 to 6 without a privilege.
    package var priority: CInt?
    package var fragmentation: Fragmentation?
    /// In bytes (SO_RCVBUF); of TCP, so much about may come unread. Nil lets it grow.
    package var receiveBuffer: CInt?

    package init(
        source: SocketEndpoint? = nil,
        interface: String? = nil,
        mark: UInt32? = nil,
        hopLimit: UInt8? = nil,
        maximumSegment: UInt16? = nil,
        priority: CInt? = nil,
        fragmentation: Fragmentation? = nil,
        receiveBuffer: CInt? = nil
    ) {
        self.source = source
        self.interface = interface
        self.mark = mark
        self.hopLimit = hopLimit
        self.maximumSegment = maximumSegment
        self.priority = priority
        self.fragmentation = fragmentation
        self.receiveBuffer = receiveBuffer
    }
}

/// What happens to a packet that is larger than a link on its way.
///
/// C counterpart: IP_MTU_DISCOVER of `ip(7)`, IPV6_MTU_DISCOVER.
package enum Fragmentation: CInt, Hashable, Sendable {
    /// It may be cut into pieces (IP_PMTUDISC_DONT).
    case allowed = 0
    /// It may not, and one that is larger than the known path MTU is not sent (IP_PMTUDISC_DO).
    case forbidden = 2
    /// It may not, and what is known of the path MTU is ignored (IP_PMTUDISC_PROBE).
    case probing = 3
}
