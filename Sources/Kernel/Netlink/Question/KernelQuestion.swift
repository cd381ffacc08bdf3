package import LinuxPrimitives

/// What may be asked of the kernel, each with the answer of the same name in ``KernelAnswer``.
///
/// A question about one link is a barrier: what the kernel has announced before is true in every answer after it.
package enum KernelQuestion: Hashable, Sendable {
    /// RTM_GETLINK by index.
    case link(UInt32)
    /// RTM_GETLINK by name.
    case linkNamed(String)
    /// Every link of the namespace.
    case links
    /// RTM_GETROUTE: which way a packet would go.
    case route(RouteQuery)
    /// RTM_GETNEXTHOP by number.
    case nextHopObject(UInt32)
    /// Every IPv4 and IPv6 address of the namespace (RTM_GETADDR).
    case addresses
    /// The policy rules of a family in the order they are tried (RTM_GETRULE).
    case rules(AddressFamily)
    /// Every route of every table that covers an address, also those that no lookup finds. The kernel sends its whole tables:
    /// only to explain.
    case routesCovering(WireAddress)
    /// Whether IPv6 is switched off on a link (`net.ipv6.conf.NAME.disable_ipv6`).
    case isIPv6Disabled(link: UInt32)
    /// RTM_GETNEIGH by address and link (Linux 5.0).
    case neighbour(WireAddress, link: UInt32)
    /// What the device behind a link tells of itself, by generic netlink, ethtool and sysfs.
    indirect case hardware(Link)
}

/// The kernel's answer to a ``KernelQuestion``.
package enum KernelAnswer: Hashable, Sendable {
    /// Nil when there is no such link.
    indirect case link(Link?)
    case links([Link])
    /// The way, or the error that `connect(2)` would fail with.
    case route(Result<Route, SystemError>)
    /// Nil when there is none.
    case nextHopObject(NextHopObject?)
    case addresses([InterfaceAddress])
    /// Empty where the kernel has none.
    case rules([RoutingRule])
    case tableRoutes([TableRoute])
    /// Nil where that is not told.
    case isIPv6Disabled(Bool?)
    /// Nil when the link knows none, or the kernel is too old to be asked.
    case neighbour(Neighbour?)
    /// What is not told is nil.
    indirect case hardware(LinkHardware)
}
