import CLinux
import Glibc
package import LinuxSupport

/// The kernel's answer to a `RouteQuery`.
///
/// C counterpart: `rtmsg` and `RTA_*`, `rtnetlink(7)`.
package struct Route: Hashable, Sendable {
    package var kind: RouteKind
    /// The routing table that contains the route; nil if the kernel does not report it.
    package var table: UInt32?
    /// The length of the matched prefix in bits. Only entries contain it (`RouteQuery.wantsEntry`).
    package var prefixLength: UInt8
    /// The metric. Among routes with the same prefix, a lower metric is preferred (RTA_PRIORITY). For IPv4, only
    /// entries contain it.
    package var metric: UInt32
    /// The next hop of a packet, or all next hops of an entry. Empty if only `nextHopID` is given.
    package var nextHops: [NextHop]
    /// The ID of the next hop object that the route uses; 0 for none (RTA_NH_ID).
    package var nextHopID: UInt32
    /// The source address of packets that have no source address yet (RTA_PREFSRC).
    package var source: WireAddress?
    /// The maximum transmission unit of the route in bytes; 0 if that of the link applies (RTAX_MTU).
    package var mtu: UInt32 = 0
    /// The remaining lifetime of the entry; nil if it does not expire. The kernel sends no message at the end of the
    /// lifetime.
    package var lifetime: Duration?

    package init(
        kind: RouteKind = .unicast,
        table: UInt32? = nil,
        prefixLength: UInt8 = 0,
        metric: UInt32 = 0,
        nextHops: [NextHop] = [],
        nextHopID: UInt32 = 0,
        source: WireAddress? = nil,
        lifetime: Duration? = nil
    ) {
        self.kind = kind
        self.table = table
        self.prefixLength = prefixLength
        self.metric = metric
        self.nextHops = nextHops
        self.nextHopID = nextHopID
        self.source = source
        self.lifetime = lifetime
    }

    /// The first next hop.
    package var nextHop: NextHop? { nextHops.first }
}

/// A next hop of a route.
///
/// C counterpart: `rtnexthop`, RTA_GATEWAY, RTA_VIA.
package struct NextHop: Hashable, Sendable {
    package var interface: UInt32
    /// The router; nil if the destination is on the link. The router of an IPv4 route can have an IPv6 address.
    package var gateway: WireAddress?

    package init(interface: UInt32, gateway: WireAddress? = nil) {
        self.interface = interface
        self.gateway = gateway
    }
}

/// A route as it is in its table, with its destination prefix.
///
/// C counterpart: `rtmsg` with RTA_DST, `ip-route(8)`.
package struct TableRoute: Hashable, Sendable {
    package let prefix: AddressPrefix
    package let route: Route

    package init(prefix: AddressPrefix, route: Route) {
        self.prefix = prefix
        self.route = route
    }
}

extension Route {
    /// Decodes an RTM_NEWROUTE body; nil if it is truncated or of a family other than IPv4 and IPv6.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(rtmsg.self, at: 0), AddressFamily(rawValue: head.rtm_family) != nil else {
            return nil
        }
        self.init(
            kind: RouteKind(rawValue: head.rtm_type),
            table: head.rtm_table == 0 ? nil : UInt32(head.rtm_table),
            prefixLength: head.rtm_dst_len
        )
        var single = NextHop(interface: 0)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) {
            switch rtattr_type_t(UInt32(type)) {
            case RTA_OIF: single.interface = value.word ?? 0
            case RTA_GATEWAY: single.gateway = WireAddress(bytes: value)
            case RTA_VIA: single.gateway = WireAddress(via: value)
            case RTA_PREFSRC: source = WireAddress(bytes: value)
            case RTA_TABLE: table = value.word.flatMap { $0 == 0 ? nil : $0 }
            case RTA_PRIORITY: metric = value.word ?? 0
            case RTA_NH_ID: nextHopID = value.word ?? 0
            case RTA_METRICS: mtu = Attributes(value).value(of: Int(RTAX_MTU))?.word ?? 0
            case RTA_MULTIPATH: nextHops = NextHop.all(value)
            case RTA_CACHEINFO: readCacheInformation(value)
            default: break
            }
        }
        if nextHops.isEmpty, single.interface != 0 { nextHops = [single] }
    }

    private mutating func readCacheInformation(_ value: UnsafeRawBufferPointer) {
        guard let information = value.load(rta_cacheinfo.self, at: 0), information.rta_expires != 0 else { return }
        let ticksPerSecond = max(1, sysconf(CInt(_SC_CLK_TCK)))
        lifetime = max(.zero, .nanoseconds(Int64(information.rta_expires) * (1_000_000_000 / Int64(ticksPerSecond))))
    }
}

extension NextHop {
    /// Decodes the next hops of RTA_MULTIPATH, each of which is an `rtnexthop` with attributes.
    static func all(_ value: UnsafeRawBufferPointer) -> [NextHop] {
        var hops: [NextHop] = []
        var rest = value
        while let head = rest.load(rtnexthop.self, at: 0), Int(head.rtnh_len) >= MemoryLayout<rtnexthop>.size,
            Int(head.rtnh_len) <= rest.count
        {
            let length = Int(head.rtnh_len)
            var hop = NextHop(interface: UInt32(max(0, head.rtnh_ifindex)))
            let size = MemoryLayout<rtnexthop>.size
            for (type, value) in Attributes(rest.bytes(from: size, length: length - size)) {
                switch rtattr_type_t(UInt32(type)) {
                case RTA_GATEWAY: hop.gateway = WireAddress(bytes: value)
                case RTA_VIA: hop.gateway = WireAddress(via: value)
                default: break
                }
            }
            hops.append(hop)
            rest = rest.bytes(from: length.alignedToAttribute)
        }
        return hops
    }
}

extension AddressPrefix {
    /// Creates the destination of a route; nil if it is missing, truncated or of another family. Only a default route
    /// may have none.
    ///
    /// - Parameter body: An `rtmsg` and attributes. RTA_DST is among the first attributes.
    init?(routeBody body: UnsafeRawBufferPointer) {
        guard let head = body.load(rtmsg.self, at: 0), let family = AddressFamily(rawValue: head.rtm_family),
            Int(head.rtm_dst_len) <= family.bitCount
        else { return nil }
        let value = Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)).value(of: Int(RTA_DST.rawValue))
        if value == nil, head.rtm_dst_len > 0 { return nil }
        guard let address = value.map({ WireAddress(bytes: $0) }) ?? WireAddress(family: family, bits: 0),
            address.family == family
        else { return nil }
        self.init(address, length: Int(head.rtm_dst_len))
    }
}

extension WireAddress {
    /// Decodes RTA_VIA: the family of a router that differs from the route's family, followed by its address.
    init?(via value: UnsafeRawBufferPointer) {
        self.init(bytes: value.bytes(from: MemoryLayout<UInt16>.size))
    }
}

/// The type of a route, which determines the treatment of packets.
///
/// C counterpart: `RTN_*` in `<linux/rtnetlink.h>`.
package struct RouteKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let unicast = RouteKind(rawValue: 1)
    package static let local = RouteKind(rawValue: 2)
    package static let broadcast = RouteKind(rawValue: 3)
    package static let anycast = RouteKind(rawValue: 4)
    package static let multicast = RouteKind(rawValue: 5)
    package static let blackhole = RouteKind(rawValue: 6)
    package static let unreachable = RouteKind(rawValue: 7)
    package static let prohibit = RouteKind(rawValue: 8)
    package static let throwing = RouteKind(rawValue: 9)

    /// A Boolean value that indicates whether packets that take the route are delivered or forwarded.
    package var carriesPackets: Bool {
        switch self {
        case .unicast, .local, .broadcast, .anycast, .multicast: true
        default: false
        }
    }
}

/// A query for the route that a packet would take.
///
/// C counterpart: RTM_GETROUTE, `rtnetlink(7)`.
package struct RouteQuery: Hashable, Sendable {
    package var destination: WireAddress
    /// The source address of the packet if it is already known (RTA_SRC).
    package var source: WireAddress?
    /// The interface that the packet is bound to (RTA_OIF). IPv4 then answers "on-link" even without a route.
    package var outputInterface: UInt32?
    /// The firewall mark of the packet (RTA_MARK); 0 for none.
    package var mark: UInt32
    /// The transport protocol of the packet (RTA_IP_PROTO). IPv6 considers it when it selects one of several next hops.
    package var transport: TransportProtocol?
    /// A Boolean value that indicates whether the answer is the routing table entry, with all its next hops, expiry and
    /// prefix, instead of the next hop of a packet (RTM_F_FIB_MATCH).
    package var wantsEntry: Bool

    package init(
        destination: WireAddress,
        source: WireAddress? = nil,
        outputInterface: UInt32? = nil,
        mark: UInt32 = 0,
        wantsEntry: Bool = false
    ) {
        self.destination = destination
        self.source = source
        self.outputInterface = outputInterface
        self.mark = mark
        self.wantsEntry = wantsEntry
    }

    /// Hashes the destination, which distinguishes almost all queries of an evaluation.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(destination)
        hasher.combine(wantsEntry)
    }
}

/// The transport protocol of an IP packet.
///
/// C counterpart: `IPPROTO_*` in `<netinet/in.h>`.
package enum TransportProtocol: UInt8, Hashable, Sendable, CaseIterable {
    case tcp = 6
    case udp = 17
}
