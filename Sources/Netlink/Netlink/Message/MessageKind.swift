import CLinux

/// What a netlink message is about.
///
/// C counterpart: `NLMSG_*` in `<linux/netlink.h>`, `RTM_*` in `<linux/rtnetlink.h>`, family ids of generic netlink.
package struct MessageKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let error = MessageKind(rawValue: UInt16(NLMSG_ERROR))
    package static let done = MessageKind(rawValue: UInt16(NLMSG_DONE))
    package static let overrun = MessageKind(rawValue: UInt16(NLMSG_OVERRUN))
    package static let newLink = MessageKind(rawValue: UInt16(RTM_NEWLINK))
    package static let deleteLink = MessageKind(rawValue: UInt16(RTM_DELLINK))
    package static let getLink = MessageKind(rawValue: UInt16(RTM_GETLINK))
    package static let newAddress = MessageKind(rawValue: UInt16(RTM_NEWADDR))
    package static let getAddress = MessageKind(rawValue: UInt16(RTM_GETADDR))
    package static let deleteAddress = MessageKind(rawValue: UInt16(RTM_DELADDR))
    package static let newRoute = MessageKind(rawValue: UInt16(RTM_NEWROUTE))
    package static let deleteRoute = MessageKind(rawValue: UInt16(RTM_DELROUTE))
    package static let getRoute = MessageKind(rawValue: UInt16(RTM_GETROUTE))
    package static let newRule = MessageKind(rawValue: UInt16(RTM_NEWRULE))
    package static let deleteRule = MessageKind(rawValue: UInt16(RTM_DELRULE))
    package static let getRule = MessageKind(rawValue: UInt16(RTM_GETRULE))
    package static let getNeighbour = MessageKind(rawValue: UInt16(RTM_GETNEIGH))
    package static let newNeighbour = MessageKind(rawValue: UInt16(RTM_NEWNEIGH))
    package static let deleteNeighbour = MessageKind(rawValue: UInt16(RTM_DELNEIGH))
    package static let newNextHop = MessageKind(rawValue: UInt16(RTM_NEWNEXTHOP))
    package static let deleteNextHop = MessageKind(rawValue: UInt16(RTM_DELNEXTHOP))
    package static let getNextHop = MessageKind(rawValue: UInt16(RTM_GETNEXTHOP))
    package static let newNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_NEWNETCONF))
    package static let deleteNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_DELNETCONF))
    /// Options of router advertisements that the kernel leaves to programs.
    package static let newRouterOption = MessageKind(rawValue: UInt16(RTM_NEWNDUSEROPT))
    /// Sockets of one address family (SOCK_DIAG_BY_FAMILY), of another netlink family.
    package static let socketsByFamily = MessageKind(rawValue: UInt16(SOCK_DIAG_BY_FAMILY))
    /// Generic netlink's own family, the only one with a fixed id.
    package static let genericController = MessageKind(rawValue: UInt16(GENL_ID_CTRL))
}
