import CLinux
import Glibc
package import LinuxSupport

/// Queries the default routes of a namespace, and reads as little of the routing tables as possible.
///
/// A dump can be limited to a table and a route type (NETLINK_GET_STRICT_CHK), but not to a prefix length. The kernel
/// dumps IPv4 tables in the order of destinations (`net/ipv4/fib_trie.c`). Default routes come first, so the rest is
/// not read, and a million routes cost as much as ten. The kernel dumps IPv6 tables from the leaves to the root
/// (`net/ipv6/ip6_fib.c`). Default routes come last, so the whole table is read, one datagram at a time.
///
/// Each dump has a separate socket. Closing it ends an incomplete dump.
package enum DefaultRouteDump {
    /// Returns the default routes in the calling thread's network namespace, from table `main` and every other table
    /// that a policy rule refers to (RTM_GETRULE).
    ///
    /// - Returns: The routes by family and table. Within a table they are in the kernel's order, with the preferred one
    ///   first.
    package static func query() throws(NetlinkError) -> [DefaultRoute] {
        var routes: [DefaultRoute] = []
        for family in AddressFamily.allCases {
            for table in try tables(family) { routes += try query(family, table) }
        }
        return routes
    }

    private static func query(_ family: AddressFamily, _ table: UInt32) throws(NetlinkError) -> [DefaultRoute] {
        let transport = try SocketTransport()
        transport.enableStrictChecks()
        var request = RequestBuilder()
        request.begin(.getRoute, flags: NLM_F_DUMP, sequence: 1)
        request.append(restriction(family, table))
        request.append(attribute: Int(RTA_TABLE.rawValue), table)
        var routes: [DefaultRoute] = []
        let failure = try transport.dump(request.bytes) { body in
            // Kernels before 4.20 send the routes of all tables and types.
            if let route = DefaultRoute(body: body), route.table == table { routes.append(route) }
            return !(family == .ipv4 && isPast(body, table))
        }
        // The table may not exist.
        if let failure, failure != .noEntry { throw NetlinkError("read a netlink dump", failure) }
        return routes
    }

    /// Returns whether an IPv4 route of this table comes after all default routes.
    private static func isPast(_ body: UnsafeRawBufferPointer, _ table: UInt32) -> Bool {
        guard let route = Route(body: body), route.table == table, let prefix = AddressPrefix(routeBody: body) else {
            return false
        }
        return !prefix.address.isUnspecified
    }

    static func restriction(_ family: AddressFamily, _ table: UInt32) -> rtmsg {
        rtmsg(
            rtm_family: family.rawValue,
            rtm_dst_len: 0,
            rtm_src_len: 0,
            rtm_tos: 0,
            // Tables above 255 are only given by the attribute.
            rtm_table: table < 256 ? UInt8(table) : UInt8(RT_TABLE_UNSPEC.rawValue),
            rtm_protocol: 0,
            rtm_scope: 0,
            rtm_type: RouteKind.unicast.rawValue,
            rtm_flags: 0
        )
    }

    /// Returns the tables that rules refer to, `main` first, then by number. `local` is excluded, because it has no
    /// default route.
    private static func tables(_ family: AddressFamily) throws(NetlinkError) -> [UInt32] {
        var queries = QuerySocket(try SocketTransport())
        let rules = try queries.query([.rules(family)]).first?.rules ?? []
        let named = rules.filter { $0.action == .lookUp }.map(\.table)
        let main = UInt32(RT_TABLE_MAIN.rawValue)
        let others = Set(named).subtracting([0, main, UInt32(RT_TABLE_LOCAL.rawValue)])
        return [main] + others.sorted()
    }
}

/// A unicast route with prefix length 0, as it is in a table.
///
/// C counterpart: `rtmsg` and `RTA_*`, `rtnetlink(7)`.
package struct DefaultRoute: Hashable, Sendable {
    package var family: AddressFamily
    /// The routing table: 254 is `main` (`ip-route(8)`).
    package var table: UInt32
    /// The metric. A route with a lower metric is preferred (RTA_PRIORITY).
    package var metric: UInt32
    /// The next hops; empty if the kernel reports only the ID of a group of next hop objects.
    package var nextHops: [NextHop]

    package init(family: AddressFamily, table: UInt32, metric: UInt32, nextHops: [NextHop]) {
        self.family = family
        self.table = table
        self.metric = metric
        self.nextHops = nextHops
    }
}

extension DefaultRoute {
    /// Decodes an RTM_NEWROUTE body; nil if it is truncated or is not a unicast route with prefix length 0.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(rtmsg.self, at: 0), head.rtm_dst_len == 0,
            head.rtm_flags & UInt32(RTM_F_CLONED) == 0,
            let family = AddressFamily(rawValue: head.rtm_family), let route = Route(body: body), route.kind == .unicast
        else { return nil }
        self.init(family: family, table: route.table ?? 0, metric: route.metric, nextHops: route.nextHops)
    }
}
