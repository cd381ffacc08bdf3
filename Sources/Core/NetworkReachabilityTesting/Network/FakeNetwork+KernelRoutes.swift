import LinuxPrimitives
import Netlink

/// The routes that follow from addresses, which nobody adds by hand.
extension FakeNetwork {
    mutating func addRoutes(of address: Address) {
        for entry in routes(of: address) where !entries.contains(where: { $0.isSameRoute(as: entry) }) {
            entries.append(entry)
            hear(entry)
        }
    }

    /// Removes what no other address of the same device needs, and the IPv4 routes whose source is gone.
    mutating func removeRoutes(of address: Address) {
        let siblings = addresses.filter { $0.interface == address.interface && $0.family == address.family }
        let needed = siblings.flatMap(routes(of:))
        let leaving = routes(of: address).filter { route in !needed.contains { $0.isSameRoute(as: route) } }
        removeLoudly { entry in leaving.contains { $0.isSameRoute(as: entry) } }
        if addresses.contains(where: { $0.address == address.address }) { return }
        if address.family == .ipv4 {
            removeLoudly { $0.family == .ipv4 && $0.source == address.address }
        } else {
            for position in entries.indices where entries[position].source == address.address {
                entries[position].source = nil
            }
        }
    }

    /// ff00::/8 of a device that is up.
    mutating func addMulticastRoute(_ index: UInt32) {
        guard let device = device(index), !device.link.isLoopback else { return }
        let entry = Entry(
            prefix: Prefix(WireAddress(family: .ipv6, bits: 0xff << 120), length: 8),
            table: RoutingTable.local,
            metric: 256,
            kind: .multicast,
            hops: [Hop(interface: index)]
        )
        guard !entries.contains(where: { $0.isSameRoute(as: entry) }) else { return }
        entries.append(entry)
        hear(entry)
    }

    mutating func removeLoudly(_ isLeaving: (Entry) -> Bool) {
        for entry in entries where isLeaving(entry) { hear(entry, removed: true) }
        entries.removeAll(where: isLeaving)
    }

    private func routes(of address: Address) -> [Entry] {
        guard let device = device(address.interface) else { return [] }
        return address.family == .ipv4 ? ipv4Routes(of: address, device) : ipv6Routes(of: address, device)
    }

    private func ipv4Routes(of address: Address, _ device: Device) -> [Entry] {
        let hop = Hop(interface: address.interface)
        func entry(_ prefix: Prefix, _ kind: RouteKind, _ scope: Scope) -> Entry {
            let table = kind == .unicast ? RoutingTable.main : RoutingTable.local
            return Entry(
                prefix: prefix,
                table: table,
                metric: 0,
                kind: kind,
                hops: [hop],
                source: address.address,
                scope: scope
            )
        }
        var routes = [entry(Prefix(address.address, length: 32), .local, .host)]
        guard device.isUp, !address.isSecondary, address.prefix.length < 32 else { return routes }
        if device.link.isLoopback {
            routes.append(entry(address.prefix.network, .local, .host))
        } else {
            routes.append(entry(address.prefix.network, .unicast, .link))
        }
        if address.prefix.length < 31 {
            routes.append(entry(Prefix(address.prefix.broadcast, length: 32), .broadcast, .link))
        }
        return routes
    }

    private func ipv6Routes(of address: Address, _ device: Device) -> [Entry] {
        let hop = Hop(interface: address.interface)
        let own = Prefix(address.address, length: 128)
        var routes: [Entry] = []
        if device.isUp {
            let network = address.prefix.network
            routes.append(Entry(prefix: network, table: RoutingTable.main, metric: 256, kind: .unicast, hops: [hop]))
        }
        if !address.isTentative {
            routes.append(Entry(prefix: own, table: RoutingTable.local, metric: 0, kind: .local, hops: [hop]))
        }
        return routes
    }
}

extension FakeNetwork.Entry {
    /// Whether the kernel would call the other a duplicate.
    func isSameRoute(as other: FakeNetwork.Entry) -> Bool {
        prefix == other.prefix && table == other.table && metric == other.metric && kind == other.kind
            && hops.map(\.answer) == other.hops.map(\.answer)
    }
}
