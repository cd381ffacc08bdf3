import CLinux

/// The rtnetlink groups whose messages can change where a packet goes.
///
/// C counterpart: `RTNLGRP_*` in `<linux/rtnetlink.h>`.
struct MulticastGroup: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    private init(_ group: rtnetlink_groups) {
        rawValue = group.rawValue
    }

    /// IPv4 routes vanish without a message when their device or source does, so links and addresses belong to it;
    /// rules and next hops change routes without naming them; NETCONF tells of `ignore_routes_with_linkdown`. IPv6 passes
    /// over routes whose gateway has failed as a neighbour (RFC 4191), and only the neighbour's state tells.
    static let reachability: [MulticastGroup] = [
        MulticastGroup(RTNLGRP_LINK),
        MulticastGroup(RTNLGRP_IPV4_IFADDR), MulticastGroup(RTNLGRP_IPV6_IFADDR),
        MulticastGroup(RTNLGRP_IPV4_ROUTE), MulticastGroup(RTNLGRP_IPV6_ROUTE),
        MulticastGroup(RTNLGRP_IPV4_RULE), MulticastGroup(RTNLGRP_IPV6_RULE),
        MulticastGroup(RTNLGRP_NEXTHOP), MulticastGroup(RTNLGRP_NEIGH),
        MulticastGroup(RTNLGRP_IPV4_NETCONF), MulticastGroup(RTNLGRP_IPV6_NETCONF),
    ]
}
