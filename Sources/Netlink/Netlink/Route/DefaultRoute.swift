import CLinux
package import LinuxSupport

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
