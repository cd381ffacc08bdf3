package import LinuxPrimitives

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
