import LinuxSupport
import Netlink

extension FakeNetwork {
    /// How a route meets one that is there already.
    enum Placement: Sendable {
        /// It must be the only one of its prefix and metric (NLM_F_EXCL).
        case add
        /// It takes the place of the first of its prefix and metric, or is added (NLM_F_REPLACE).
        case replace
        /// It stands behind the others of its prefix and metric; IPv6 makes one route of all hops (NLM_F_APPEND).
        case append
    }

    mutating func place(_ request: RouteRequest, _ placement: Placement) throws(Refusal) {
        let entry = try makeEntry(request)
        let same = entries.firstIndex {
            $0.prefix == entry.prefix && $0.table == entry.table && $0.metric == entry.metric
        }
        switch (placement, same) {
        case (.add, _?):
            throw Refusal("there is a route \(entry.prefix.text) of metric \(entry.metric) already")
        case (.replace, let position?):
            entries[position] = entry
        case (.append, let position?) where entry.family == .ipv6 && entries[position].hops.first?.gateway != nil:
            entries[position].hops += entry.hops
        default:
            entries.append(entry)
        }
        hear(entry)
    }

    /// Removes the first route that fits what is given.
    mutating func removeRoute(_ request: RouteRequest) throws(Refusal) {
        let gateway = request.hops.first?.gateway
        let index = try request.hops.first?.link.map { name throws(Refusal) in try self.index(of: name) }
        let fitting = entries.indices.filter { position in
            let entry = entries[position]
            guard entry.prefix == request.prefix.network, entry.table == request.table else { return false }
            if let metric = request.metric, metric != entry.metric { return false }
            if request.kind != .unicast, request.kind != entry.kind { return false }
            return (gateway == nil || entry.hops.contains { $0.gateway == gateway })
                && (index == nil || entry.hops.contains { $0.interface == index })
        }
        guard let position = fitting.min(by: { entries[$0].metric < entries[$1].metric }) else {
            throw Refusal("there is no such route \(request.prefix.text) in table \(request.table)")
        }
        hear(entries[position], removed: true)
        if entries[position].family == .ipv6, entries[position].hops.count > 1, let gateway {
            // Naming a router takes one hop out of an IPv6 route, and all of an IPv4 one.
            entries[position].hops.removeAll { $0.gateway == gateway }
        } else {
            entries.remove(at: position)
        }
    }

    /// Removes what has ended, as the kernel's collector does long after the fact.
    mutating func collectEndedRoutes(at now: Duration) {
        removeLoudly { $0.hasEnded(at: now) }
    }

    private func makeEntry(_ request: RouteRequest) throws(Refusal) -> Entry {
        let family = request.prefix.family
        if family == .ipv4, request.end != nil { throw Refusal("only IPv6 routes expire") }
        if request.object != 0, objects[request.object] == nil {
            throw Refusal("there is no next hop object \(request.object)")
        }
        guard request.table > 0 else { throw Refusal("0 is no routing table") }
        if let source = request.source, !isOwn(source) { throw Refusal("\(source) is not an address of ours") }
        var hops: [Hop] = []
        for hop in request.hops { hops.append(try makeHop(hop.gateway, hop.link, family: family, request.table)) }
        if request.kind == .unicast || request.kind == .local {
            guard !hops.isEmpty || request.object != 0 else {
                throw Refusal("a route needs a router, a link or a next hop object")
            }
        } else if family == .ipv6 {
            // IPv6 lets a route to nowhere end at the loopback device.
            hops = [Hop(interface: 1)]
        } else {
            hops = []
        }
        let metric = request.metric.flatMap { $0 == 0 && family == .ipv6 ? nil : $0 } ?? (family == .ipv4 ? 0 : 1024)
        var entry = Entry(
            prefix: request.prefix.network,
            table: request.table,
            metric: metric,
            kind: request.kind,
            hops: hops,
            object: request.object,
            source: request.source,
            end: request.end
        )
        if request.kind == .local {
            entry.scope = .host
        } else if request.kind == .unicast, hops.allSatisfy({ $0.gateway == nil }), request.object == 0 {
            entry.scope = .link
        }
        return entry
    }

    private func makeHop(
        _ gateway: WireAddress?,
        _ link: String?,
        family: AddressFamily,
        _ table: UInt32
    ) throws(Refusal) -> Hop {
        let index = try link.map { name throws(Refusal) in try self.index(of: name) }
        guard let gateway else {
            guard let index else { throw Refusal("a hop needs a router or a link") }
            let hop = Hop(interface: index)
            try checkHop(hop, family: family, table: table)
            return hop
        }
        if family == .ipv6, gateway.family == .ipv4 { throw Refusal("an IPv4 router forwards no IPv6") }
        if let index {
            let hop = Hop(interface: index, gateway: gateway)
            try checkHop(hop, family: family, table: table)
            return hop
        }
        guard let link = linkOfRouter(to: gateway, through: nil, table: table) else {
            throw Refusal("the router \(gateway) is on no link")
        }
        let hop = Hop(interface: link, gateway: gateway)
        try checkHop(hop, family: family, table: table)
        return hop
    }

    /// Refuses a hop through a link that is down, or to a router that is not on it.
    func checkHop(_ hop: Hop, family: AddressFamily, table: UInt32) throws(Refusal) {
        guard let device = device(hop.interface), device.isUp else {
            throw Refusal("the link of a new route must be up")
        }
        guard let gateway = hop.gateway else { return }
        if gateway.family == .ipv6, gateway.isLinkLocal { return }
        guard linkOfRouter(to: gateway, through: hop.interface, table: table) == hop.interface else {
            throw Refusal("the router \(gateway) is not on \(device.link.name)")
        }
    }

    /// The link a router is directly on: no route to a router may need another router.
    private func linkOfRouter(to gateway: WireAddress, through index: UInt32?, table: UInt32) -> UInt32? {
        let tables = [table, RoutingTable.main]
        let fitting = entries.filter { entry in
            entry.kind == .unicast && tables.contains(entry.table) && entry.prefix.covers(gateway)
                && entry.hops.contains { $0.gateway == nil && (index == nil || $0.interface == index) }
        }
        let best = fitting.max { one, other in
            (one.prefix.length, other.metric) < (other.prefix.length, one.metric)
        }
        return best?.hops.first { index == nil || $0.interface == index }?.interface
    }
}

extension Prefix {
    /// As `ip route` writes it.
    var text: String { length == 0 ? "default" : "\(address)/\(length)" }
}

/// A route somebody asks for, before the kernel has checked it.
struct RouteRequest: Sendable {
    var prefix: Prefix
    var table: UInt32
    /// Nil for the family's own: 0 for IPv4, 1024 for IPv6.
    var metric: UInt32?
    var kind: RouteKind
    var hops: [(gateway: WireAddress?, link: String?)] = []
    var object: UInt32 = 0
    var source: WireAddress?
    var end: Duration?
}

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

extension FakeNetwork {
    /// A route as it stands in a table.
    struct Entry: Hashable, Sendable {
        var prefix: Prefix
        var table: UInt32
        /// The lower, the better (RTA_PRIORITY).
        var metric: UInt32
        var kind: RouteKind
        /// Empty where a next hop object says where to go, and for IPv4 routes that go nowhere.
        var hops: [Hop]
        /// The next hop object, 0 for none.
        var object: UInt32 = 0
        /// The source its packets get (RTA_PREFSRC).
        var source: WireAddress?
        /// When it ends, on the monotonic clock; IPv6 only.
        var end: Duration?
        /// IPv4 only.
        var scope: Scope = .universe

        var family: AddressFamily { prefix.family }

        func hasEnded(at now: Duration) -> Bool {
            end.map { $0 <= now } ?? false
        }

        /// Whether some hop of its own leaves through the device.
        func uses(_ interface: UInt32) -> Bool {
            hops.contains { $0.interface == interface }
        }
    }
}

/// How far an IPv4 destination is away.
///
/// C counterpart: `RT_SCOPE_*` in `<linux/rtnetlink.h>`.
enum Scope: UInt8, Hashable, Sendable, Comparable {
    case universe = 0
    case link = 253
    case host = 254

    static func < (one: Scope, other: Scope) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// The tables that exist in every namespace.
///
/// C counterpart: `RT_TABLE_*` in `<linux/rtnetlink.h>`.
enum RoutingTable {
    static let `default`: UInt32 = 253
    static let main: UInt32 = 254
    static let local: UInt32 = 255
}
