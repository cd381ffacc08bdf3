import CLinux
import Glibc
package import LinuxSupport

/// Asks for the default routes of a namespace without reading its whole tables where that can be helped.
///
/// The kernel can be given the table and the type of the routes wanted (NETLINK_GET_STRICT_CHK), but not the length of their
/// prefixes. IPv4 tables are walked in the order of destinations (`net/ipv4/fib_trie.c`), so what is wanted comes first,
/// and the rest is left unread: a million routes cost what ten cost. IPv6 tables are walked from the leaves to the root
/// (`net/ipv6/ip6_fib.c`), so what is wanted comes last, and all of the table is read, one datagram at a time.
///
/// Each walk has a socket of its own, which closes at its end: that is how a walk is left.
package enum DefaultRouteQuestion {
    /// The default routes in the calling thread's network namespace: those of the table `main`, and of every other that a
    /// policy rule names (RTM_GETRULE).
    ///
    /// - Returns: By family and table; within one in the kernel's order, the best first.
    package static func ask() throws(NetlinkError) -> [DefaultRoute] {
        var routes: [DefaultRoute] = []
        for family in AddressFamily.allCases {
            for table in try tables(family) { routes += try ask(family, table) }
        }
        return routes
    }

    private static func ask(_ family: AddressFamily, _ table: UInt32) throws(NetlinkError) -> [DefaultRoute] {
        let transport = try SocketTransport()
        transport.demandStrictness()
        var request = RequestBuilder()
        request.begin(.getRoute, flags: NLM_F_DUMP, sequence: 1)
        request.append(restriction(family, table))
        request.append(attribute: Int(RTA_TABLE.rawValue), table)
        var routes: [DefaultRoute] = []
        var failure: SystemError?
        try transport.stream(request.bytes, sequence: 1) { header, message in
            let body = message.bytes(from: MessageHeader.size)
            guard header.kind != .error, header.kind != .done else {
                failure = SystemError(dumpEnd: body)
                return false
            }
            // An older kernel sends the routes of every table and type.
            if let route = DefaultRoute(body: body), route.table == table { routes.append(route) }
            return !(family == .ipv4 && isPast(body, table))
        }
        // The table may not exist.
        if let failure, failure != .noEntry { throw NetlinkError("list what the kernel has", failure) }
        return routes
    }

    /// Whether an IPv4 route of this table begins after all default routes.
    private static func isPast(_ body: UnsafeRawBufferPointer, _ table: UInt32) -> Bool {
        guard let route = Route(body: body), route.table == table else { return false }
        let destination = Int(RTA_DST.rawValue)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == destination {
            return WireAddress(bytes: value).map { !$0.isUnspecified } ?? false
        }
        return false
    }

    static func restriction(_ family: AddressFamily, _ table: UInt32) -> rtmsg {
        rtmsg(
            rtm_family: family.rawValue,
            rtm_dst_len: 0,
            rtm_src_len: 0,
            rtm_tos: 0,
            // Tables beyond 255 are named by the attribute alone.
            rtm_table: table < 256 ? UInt8(table) : UInt8(RT_TABLE_UNSPEC.rawValue),
            rtm_protocol: 0,
            rtm_scope: 0,
            rtm_type: RouteKind.unicast.rawValue,
            rtm_flags: 0
        )
    }

    /// The tables that rules send packets to, `main` first, then by number; never `local`, which has no default route.
    private static func tables(_ family: AddressFamily) throws(NetlinkError) -> [UInt32] {
        var questions = QuestionSocket(try SocketTransport())
        let rules = try questions.ask([.rules(family)]).first?.rules ?? []
        let named = rules.filter { $0.action == .lookUp }.map(\.table)
        let main = UInt32(RT_TABLE_MAIN.rawValue)
        let others = Set(named).subtracting([0, main, UInt32(RT_TABLE_LOCAL.rawValue)])
        return [main] + others.sorted()
    }
}

/// A unicast route of prefix length 0, as it stands in a table.
///
/// C counterpart: `rtmsg` and `RTA_*`, `rtnetlink(7)`.
package struct DefaultRoute: Hashable, Sendable {
    package var family: AddressFamily
    /// The routing table: 254 is `main` (`ip-route(8)`).
    package var table: UInt32
    /// The lower, the better (RTA_PRIORITY).
    package var metric: UInt32
    /// Its next hops; empty where only a group of next hop objects is given that the kernel does not spell out.
    package var nextHops: [NextHop]

    package init(family: AddressFamily, table: UInt32, metric: UInt32, nextHops: [NextHop]) {
        self.family = family
        self.table = table
        self.metric = metric
        self.nextHops = nextHops
    }
}

extension DefaultRoute {
    /// Reads an RTM_NEWROUTE body; nil when it is truncated, or not a unicast route of prefix length 0.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(rtmsg.self, at: 0), head.rtm_dst_len == 0,
            head.rtm_flags & UInt32(RTM_F_CLONED) == 0,
            let family = AddressFamily(rawValue: head.rtm_family), let route = Route(body: body), route.kind == .unicast
        else { return nil }
        var metric: UInt32 = 0
        let priority = Int(RTA_PRIORITY.rawValue)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == priority {
            metric = value.word ?? 0
        }
        self.init(family: family, table: route.table ?? 0, metric: metric, nextHops: route.nextHops)
    }
}
