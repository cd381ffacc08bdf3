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
