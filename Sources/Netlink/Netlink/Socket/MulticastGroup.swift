import CLinux

/// The rtnetlink groups whose messages can change where a packet goes.
///
/// C counterpart: `RTNLGRP_*` in `<linux/rtnetlink.h>`.
package struct MulticastGroup: Hashable, Sendable {
    let rawValue: UInt32
    /// The constant's name without `RTNLGRP_`.
    package let name: String

    init(rawValue: UInt32, name: String) {
        (self.rawValue, self.name) = (rawValue, name)
    }

    private init(_ group: rtnetlink_groups, _ name: String) {
        self.init(rawValue: group.rawValue, name: name)
    }

    /// Options of router advertisements that the kernel leaves to programs.
    static let routerOptions = MulticastGroup(RTNLGRP_ND_USEROPT, "ND_USEROPT")

    /// IPv4 routes vanish without a message when their device or source does, so links and addresses belong to it;
    /// rules and next hops change routes without naming them; NETCONF tells of `ignore_routes_with_linkdown`. IPv6 passes
    /// over routes whose gateway has failed as a neighbour (RFC 4191), and only the neighbour's state tells.
    static let reachability: [MulticastGroup] = [
        MulticastGroup(RTNLGRP_LINK, "LINK"),
        MulticastGroup(RTNLGRP_IPV4_IFADDR, "IPV4_IFADDR"), MulticastGroup(RTNLGRP_IPV6_IFADDR, "IPV6_IFADDR"),
        MulticastGroup(RTNLGRP_IPV4_ROUTE, "IPV4_ROUTE"), MulticastGroup(RTNLGRP_IPV6_ROUTE, "IPV6_ROUTE"),
        MulticastGroup(RTNLGRP_IPV4_RULE, "IPV4_RULE"), MulticastGroup(RTNLGRP_IPV6_RULE, "IPV6_RULE"),
        MulticastGroup(RTNLGRP_NEXTHOP, "NEXTHOP"), MulticastGroup(RTNLGRP_NEIGH, "NEIGH"),
        MulticastGroup(RTNLGRP_IPV4_NETCONF, "IPV4_NETCONF"), MulticastGroup(RTNLGRP_IPV6_NETCONF, "IPV6_NETCONF"),
    ]

    /// Whether a kernel may lack it: what it would tell does not exist there, or shows late.
    var isOptional: Bool { ["NEXTHOP", "IPV4_NETCONF", "IPV6_NETCONF"].contains(name) }
}
