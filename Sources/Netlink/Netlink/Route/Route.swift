import CLinux
import Glibc
package import LinuxSupport

/// The kernel's answer to a `RouteQuery`.
///
/// C counterpart: `rtmsg` and `RTA_*`, `rtnetlink(7)`.
package struct Route: Hashable, Sendable {
    package var kind: RouteKind
    /// The routing table the answer was found in, where the kernel says.
    package var table: UInt32?
    /// Bits of the matched prefix; only an entry tells (`RouteQuery.wantsEntry`).
    package var prefixLength: UInt8
    /// The lower, the better, among routes of the same prefix (RTA_PRIORITY); IPv4 tells it of entries only.
    package var metric: UInt32
    /// The one that packets take or, of an entry, all there are; empty where only `nextHopID` is given.
    package var nextHops: [NextHop]
    /// The next hop object the route uses, 0 for none (RTA_NH_ID).
    package var nextHopID: UInt32
    /// The source address packets get that have none yet (RTA_PREFSRC).
    package var source: WireAddress?
    /// The route's own maximum transmission unit, 0 for the link's (RTAX_MTU).
    package var mtu: UInt32
    /// How long the entry will last; nil for ever. The kernel sends nothing when this time is over.
    package var lifetime: Duration?

    package init(
        kind: RouteKind = .unicast,
        table: UInt32? = nil,
        prefixLength: UInt8 = 0,
        metric: UInt32 = 0,
        nextHops: [NextHop] = [],
        nextHopID: UInt32 = 0,
        source: WireAddress? = nil,
        mtu: UInt32 = 0,
        lifetime: Duration? = nil
    ) {
        self.kind = kind
        self.table = table
        self.prefixLength = prefixLength
        self.metric = metric
        self.nextHops = nextHops
        self.nextHopID = nextHopID
        self.source = source
        self.mtu = mtu
        self.lifetime = lifetime
    }

    /// The first of its next hops.
    package var nextHop: NextHop? { nextHops.first }
}

/// Where a route sends packets next.
///
/// C counterpart: `rtnexthop`, RTA_GATEWAY, RTA_VIA.
package struct NextHop: Hashable, Sendable {
    package var interface: UInt32
    /// The router to send to; nil when the destination is on the link itself. IPv4 may go over an IPv6 router.
    package var gateway: WireAddress?

    package init(interface: UInt32, gateway: WireAddress? = nil) {
        self.interface = interface
        self.gateway = gateway
    }
}

/// A route as it stands in its table, with the destinations it covers.
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
    /// Reads an RTM_NEWROUTE body; nil when it is truncated or of a family other than IPv4 and IPv6.
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
            case RTA_METRICS: readMetrics(value)
            case RTA_MULTIPATH: nextHops = NextHop.all(value)
            case RTA_CACHEINFO: readCacheInformation(value)
            default: break
            }
        }
        if nextHops.isEmpty, single.interface != 0 { nextHops = [single] }
    }

    private mutating func readMetrics(_ nest: UnsafeRawBufferPointer) {
        for (type, value) in Attributes(nest) where type == RTAX_MTU { mtu = value.word ?? 0 }
    }

    private mutating func readCacheInformation(_ value: UnsafeRawBufferPointer) {
        guard let information = value.load(rta_cacheinfo.self, at: 0), information.rta_expires != 0 else { return }
        let ticksPerSecond = max(1, sysconf(CInt(_SC_CLK_TCK)))
        lifetime = max(.zero, .nanoseconds(Int64(information.rta_expires) * (1_000_000_000 / Int64(ticksPerSecond))))
    }
}

extension NextHop {
    /// Those of RTA_MULTIPATH, each a `rtnexthop` with attributes of its own.
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

extension WireAddress {
    /// RTA_VIA: the family of a router that is not of the route's own, then its address.
    init?(via value: UnsafeRawBufferPointer) {
        self.init(bytes: value.bytes(from: MemoryLayout<UInt16>.size))
    }
}
