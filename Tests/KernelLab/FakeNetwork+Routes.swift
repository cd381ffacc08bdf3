import LinuxSupport
import Netlink

extension FakeNetwork {
    /// The treatment of an existing route with the same prefix and metric.
    enum Placement: Sendable {
        /// No such route may exist (NLM_F_EXCL).
        case add
        /// The new route replaces the first such route, or is added (NLM_F_REPLACE).
        case replace
        /// The new route follows the others. IPv6 merges all hops into one route (NLM_F_APPEND).
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
        announce(entry)
    }

    /// Removes the first matching route.
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
        announce(entries[position], removed: true)
        if entries[position].family == .ipv6, entries[position].hops.count > 1, let gateway {
            // With a router, only its hop is removed from an IPv6 route. An IPv4 route is removed completely.
            entries[position].hops.removeAll { $0.gateway == gateway }
        } else {
            entries.remove(at: position)
        }
    }

    /// Removes expired routes, as the kernel's garbage collector does later.
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
            // IPv6 assigns a rejecting route to the loopback device.
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

    /// Throws an error for a hop through a link that is down, or to a router that is not on the link.
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

    /// Returns the link of a router. The route to a router may not need another router.
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
    /// The route in the notation of `ip route`.
    var text: String { length == 0 ? "default" : "\(address)/\(length)" }
}

/// A requested route that was not checked yet.
struct RouteRequest: Sendable {
    var prefix: Prefix
    var table: UInt32
    /// The metric. If nil, 0 for IPv4 and 1024 for IPv6.
    var metric: UInt32?
    var kind: RouteKind
    var hops: [(gateway: WireAddress?, link: String?)] = []
    var object: UInt32 = 0
    var source: WireAddress?
    var end: Duration?
}

/// The routes that the kernel derives from addresses.
extension FakeNetwork {
    mutating func addRoutes(of address: Address) {
        for entry in routes(of: address) where !entries.contains(where: { $0.isSameRoute(as: entry) }) {
            entries.append(entry)
            announce(entry)
        }
    }

    /// Removes the routes that no other address of the device needs, and IPv4 routes whose source address was
    /// removed.
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

    /// Adds the route to ff00::/8 for a device that is up.
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
        announce(entry)
    }

    mutating func removeLoudly(_ isLeaving: (Entry) -> Bool) {
        for entry in entries where isLeaving(entry) { announce(entry, removed: true) }
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
    /// Returns whether the kernel would treat another route as a duplicate.
    func isSameRoute(as other: FakeNetwork.Entry) -> Bool {
        prefix == other.prefix && table == other.table && metric == other.metric && kind == other.kind
            && hops.map(\.answer) == other.hops.map(\.answer)
    }
}

extension FakeNetwork {
    /// A route in a table.
    struct Entry: Hashable, Sendable {
        var prefix: Prefix
        var table: UInt32
        /// The metric; lower numbers are preferred (RTA_PRIORITY).
        var metric: UInt32
        var kind: RouteKind
        /// The hops. Empty for routes with a next hop object, and for rejecting IPv4 routes.
        var hops: [Hop]
        /// The next hop object; 0 for none.
        var object: UInt32 = 0
        /// The source address of packets (RTA_PREFSRC).
        var source: WireAddress?
        /// The expiry time on the monotonic clock; only for IPv6.
        var end: Duration?
        /// The scope; only for IPv4.
        var scope: Scope = .universe

        var family: AddressFamily { prefix.family }

        func hasEnded(at now: Duration) -> Bool {
            end.map { $0 <= now } ?? false
        }

        /// Returns whether one of the entry's hops uses the device.
        func uses(_ interface: UInt32) -> Bool {
            hops.contains { $0.interface == interface }
        }
    }
}

/// The distance of an IPv4 destination.
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

/// The routing tables that exist in every namespace.
///
/// C counterpart: `RT_TABLE_*` in `<linux/rtnetlink.h>`.
enum RoutingTable {
    static let `default`: UInt32 = 253
    static let main: UInt32 = 254
    static let local: UInt32 = 255
}
