package import LinuxPrimitives

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
