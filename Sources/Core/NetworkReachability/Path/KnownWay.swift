import LinuxPrimitives
import Netlink

/// The way packets to an address took at the last look, and whether they still do: one lookup instead of two, and nothing to
/// judge.
struct KnownWay: Hashable, Sendable {
    private let link: UInt32
    private let gateway: WireAddress?
    private let source: WireAddress
    private let table: UInt32?

    /// Nil for a path that leads nowhere, or to this machine itself.
    init?(_ path: NetworkPath.Common) {
        guard NetworkReachabilityStatus(path.flags).isReachable, path.flags?.contains(.isLocalAddress) == false,
            let link = path.interface?.index, let source = path.source?.wire
        else { return nil }
        self.link = link
        self.source = source
        gateway = path.gateway?.wire
        table = path.table
    }

    /// What to ask: IPv4 packets have their source already.
    func query(for address: WireAddress, mark: UInt32) -> RouteQuery {
        var query = RouteQuery(destination: address, mark: mark)
        if address.family == .ipv4 { query.source = source }
        return query
    }

    /// Whether packets take this way still, by the answer to `query(for:mark:)`. IPv6 finds its source by itself.
    func isConfirmed(by answer: Result<Route, SystemError>) -> Bool {
        guard case .success(let route) = answer else { return false }
        return route.kind == .unicast && route.nextHop?.interface == link && route.nextHop?.gateway == gateway
            && route.table == table && (source.family == .ipv4 || route.source == source)
    }
}
