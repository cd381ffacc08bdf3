package import LinuxSupport

/// A question to the kernel: how would a packet leave?
///
/// C counterpart: RTM_GETROUTE, `rtnetlink(7)`.
package struct RouteQuery: Hashable, Sendable {
    package var destination: WireAddress
    /// Ask as a packet that already has this source (RTA_SRC).
    package var source: WireAddress?
    /// Ask as a packet bound to this interface (RTA_OIF). IPv4 then answers "on-link" even without a route.
    package var outputInterface: UInt32?
    /// Ask as a packet with this firewall mark (RTA_MARK); 0 is none.
    package var mark: UInt32
    /// Ask as a packet of this transport protocol (RTA_IP_PROTO); nil for none in particular. By it IPv6 chooses among several next hops.
    package var transport: TransportProtocol?
    /// Ask for the routing entry itself instead of the next hop a packet takes: its next hops, expiry and prefix (RTM_F_FIB_MATCH).
    package var wantsEntry: Bool

    package init(
        destination: WireAddress,
        source: WireAddress? = nil,
        outputInterface: UInt32? = nil,
        mark: UInt32 = 0,
        wantsEntry: Bool = false
    ) {
        self.destination = destination
        self.source = source
        self.outputInterface = outputInterface
        self.mark = mark
        self.wantsEntry = wantsEntry
    }
}

/// What an IP packet carries.
///
/// C counterpart: `IPPROTO_*` in `<netinet/in.h>`.
package enum TransportProtocol: UInt8, Hashable, Sendable, CaseIterable {
    case tcp = 6
    case udp = 17
}
