import CLinux

/// What a netlink message is about.
///
/// C counterpart: `NLMSG_*` in `<linux/netlink.h>`, `RTM_*` in `<linux/rtnetlink.h>`, family ids of generic netlink.
struct MessageKind: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt16

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    static let error = MessageKind(rawValue: UInt16(NLMSG_ERROR))
    static let done = MessageKind(rawValue: UInt16(NLMSG_DONE))
    static let overrun = MessageKind(rawValue: UInt16(NLMSG_OVERRUN))
    static let newLink = MessageKind(rawValue: UInt16(RTM_NEWLINK))
    static let deleteLink = MessageKind(rawValue: UInt16(RTM_DELLINK))
    static let getLink = MessageKind(rawValue: UInt16(RTM_GETLINK))
    static let newAddress = MessageKind(rawValue: UInt16(RTM_NEWADDR))
    static let getAddress = MessageKind(rawValue: UInt16(RTM_GETADDR))
    static let deleteAddress = MessageKind(rawValue: UInt16(RTM_DELADDR))
    static let newRoute = MessageKind(rawValue: UInt16(RTM_NEWROUTE))
    static let deleteRoute = MessageKind(rawValue: UInt16(RTM_DELROUTE))
    static let getRoute = MessageKind(rawValue: UInt16(RTM_GETROUTE))
    static let newRule = MessageKind(rawValue: UInt16(RTM_NEWRULE))
    static let deleteRule = MessageKind(rawValue: UInt16(RTM_DELRULE))
    static let getRule = MessageKind(rawValue: UInt16(RTM_GETRULE))
    static let getNeighbour = MessageKind(rawValue: UInt16(RTM_GETNEIGH))
    static let newNeighbour = MessageKind(rawValue: UInt16(RTM_NEWNEIGH))
    static let deleteNeighbour = MessageKind(rawValue: UInt16(RTM_DELNEIGH))
    static let newNextHop = MessageKind(rawValue: UInt16(RTM_NEWNEXTHOP))
    static let deleteNextHop = MessageKind(rawValue: UInt16(RTM_DELNEXTHOP))
    static let getNextHop = MessageKind(rawValue: UInt16(RTM_GETNEXTHOP))
    static let newNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_NEWNETCONF))
    static let deleteNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_DELNETCONF))
    /// Options of router advertisements that the kernel leaves to programs.
    static let newRouterOption = MessageKind(rawValue: UInt16(RTM_NEWNDUSEROPT))
    /// Sockets of one address family (SOCK_DIAG_BY_FAMILY), of another netlink family.
    static let socketsByFamily = MessageKind(rawValue: UInt16(SOCK_DIAG_BY_FAMILY))
    /// Generic netlink's own family, the only one with a fixed id.
    static let genericController = MessageKind(rawValue: UInt16(GENL_ID_CTRL))
}
