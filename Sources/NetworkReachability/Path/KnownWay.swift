import Netlink

/// The way packets to an address took at the last look.
struct KnownWay: Hashable, Sendable {
    var link: UInt32
    var gateway: WireAddress?
    var source: WireAddress
    var table: UInt32?

    /// Nil for a path that leads nowhere, or to this machine itself.
    init?(_ path: NetworkPath) {
        guard path.status.isReachable, path.flags?.contains(.isLocalAddress) == false else { return nil }
        guard let link = path.interface?.index, let source = path.source?.wire else { return nil }
        self.link = link
        self.source = source
        gateway = path.gateway?.wire
        table = path.table
    }

    /// Whether packets take this way still, by a lookup that was asked with its source (IPv4) or found it (IPv6).
    func isConfirmed(by route: Route) -> Bool {
        route.kind == .unicast && route.firstHop?.interface == link && route.firstHop?.gateway == gateway
            && route.table == table && (source.family == .ipv4 || route.source == source)
    }
}
