import LinuxSupport
import Netlink

/// A Linux network namespace as a value: its configuration, and the resulting state of the kernel.
///
/// Changes are refused if Linux refuses them. They record in `received` the messages that Linux would send. A copy is
/// a snapshot. Answers depend only on the value and the given time.
struct FakeNetwork: Sendable {
    /// The devices in the order of their indices.
    var devices: [Device] = []
    /// The addresses in the order in which they are considered as sources.
    var addresses: [Address] = []
    /// The routes in the order of their addition.
    var entries: [Entry] = []
    /// The rules in the order of their application.
    var rules: [Rule] = []
    var objects: [UInt32: Object] = [:]
    /// The neighbours by link and address.
    var neighbours: [Place: Neighbour] = [:]
    /// The far ends of tunnels that may have several, by the index of the tunnel.
    var farEnds: [UInt32: [TunnelFarEnd]] = [:]
    /// Whether the peers of WireGuard are visible (CAP_NET_ADMIN).
    var showsPeers = true
    /// The families whose `ignore_routes_with_linkdown` is set for all devices.
    var ignoresLinkdown: Set<AddressFamily> = []
    /// Whether a rule was ever added. The first one splits the IPv4 tables `local` and `main`, which share one tree
    /// before.
    var hasHadRules = false
    private var nextIndex: UInt32 = 1
    private var received = EventBurst()

    /// Creates a namespace in the initial state: the loopback device, which is up, and the default rules.
    init() {
        for family in AddressFamily.allCases { rules += Rule.standard(family) }
        let loopback = LinkSpecification(name: "lo", kind: .loopback, isUp: true, hasCarrier: true)
        // No change of a new namespace is refused.
        try? addLink(loopback)
        try? addAddress(Prefix(WireAddress(ipv4: 0x7f00_0001), length: 8), to: "lo")
        _ = takeHeard()
    }

    /// Records one message of the kernel about `subjects`.
    mutating func announce(_ subjects: EventBurst.Subjects, count: Int = 1, prefixes: ChangedPrefixes? = nil) {
        received.add(EventBurst(messages: count, subjects: count == 0 ? [] : subjects, prefixes: prefixes))
    }

    /// Records RTM_NEWROUTE or RTM_DELROUTE.
    mutating func announce(_ entry: Entry, removed: Bool = false) {
        var subjects: EventBurst.Subjects = [.route, removed ? .removal : .addition]
        guard entry.prefix.length > 0 else {
            subjects.insert(.defaultRoute)
            announce(subjects)
            return
        }
        announce(subjects, prefixes: [AddressPrefix(entry.prefix.address, length: entry.prefix.length)])
    }

    /// Returns the messages since the last call.
    mutating func takeHeard() -> EventBurst {
        defer { received = EventBurst() }
        return received
    }

    /// Returns the next index. Indices increase and are never reused.
    mutating func makeIndex() -> UInt32 {
        defer { nextIndex += 1 }
        return nextIndex
    }

    func device(_ index: UInt32) -> Device? {
        devices.first { $0.link.index == index }
    }

    func device(named name: String) -> Device? {
        devices.first { $0.link.name == name }
    }

    /// Returns the index of the device with a name.
    func index(of name: String) throws(Refusal) -> UInt32 {
        guard let device = device(named: name) else { throw Refusal("there is no link \"\(name)\"") }
        return device.link.index
    }

    /// Changes the device with an index if it exists.
    mutating func update(_ index: UInt32, _ change: (inout Device) -> Void) {
        guard let position = devices.firstIndex(where: { $0.link.index == index }) else { return }
        change(&devices[position])
    }
}

extension FakeNetwork {
    /// An address of a device.
    struct Address: Hashable, Sendable {
        /// The address with its prefix length.
        var prefix: Prefix
        var interface: UInt32
        /// Whether duplicate address detection is in progress (IFA_F_TENTATIVE).
        var isTentative = false
        /// Whether the preferred lifetime has ended (IFA_F_DEPRECATED).
        var isDeprecated = false
        /// Whether an IPv4 address of the same prefix was added before (IFA_F_SECONDARY).
        var isSecondary = false

        var address: WireAddress { prefix.address }
        var family: AddressFamily { prefix.family }

        /// Whether an IPv4 address is valid only on its link.
        var isOfLink = false

        /// The scope. For IPv4 the one that `ip address add` sets by default, for IPv6 that of the address.
        var scope: Scope {
            switch family {
            case .ipv4: address.isLoopback ? .host : isOfLink ? .link : .universe
            case .ipv6: address.isLoopback ? .host : address.isLinkLocal ? .link : .universe
            }
        }
    }
}

extension FakeNetwork {
    /// Returns the source of packets through a hop: an address in the router's prefix, otherwise the device's first
    /// address, otherwise an address of another device. If the result is nil, packets have no source.
    ///
    /// C counterpart: `inet_select_addr`.
    func ipv4Source(for hop: Hop, scope: Scope) -> WireAddress? {
        let primaries = addresses.filter { $0.family == .ipv4 && !$0.isSecondary && $0.scope <= scope }
        let own = primaries.filter { $0.interface == hop.interface }
        if let gateway = hop.gateway, let near = own.first(where: { $0.prefix.covers(gateway) }) {
            return near.address
        }
        if let first = own.first { return first.address }
        return primaries.sorted { $0.interface < $1.interface }.first?.address
    }
}

extension FakeNetwork {
    /// One next hop of a route.
    struct Hop: Hashable, Sendable {
        var interface: UInt32
        var gateway: WireAddress?
        /// Whether the device was removed while the route has other hops (RTNH_F_DEAD).
        var isDead = false

        var answer: NextHop { NextHop(interface: interface, gateway: gateway) }
    }
}

extension FakeNetwork {
    /// A next hop object: a hop, a group of objects, or a blackhole.
    struct Object: Hashable, Sendable {
        var hop: Hop?
        var members: [UInt32] = []
        var isBlackhole = false
    }
}

extension FakeNetwork.Rule {
    /// The response to a query for the rule.
    var answer: RoutingRule {
        var rule = RoutingRule.forAll(priority: priority)
        switch action {
        case .lookUp(let table): rule.table = table
        case .fail(.accessDenied): rule.action = .prohibit
        case .fail(.invalidArgument): rule.action = .blackhole
        case .fail: rule.action = .unreachable
        }
        rule.source = source.map { AddressPrefix($0.address, length: $0.length) }
        rule.destination = destination.map { AddressPrefix($0.address, length: $0.length) }
        rule.mark = mark ?? 0
        rule.markMask = mark == nil ? 0 : .max
        rule.isInverted = isInverted
        rule.suppressedLength = suppressedLength
        return rule
    }
}

extension FakeNetwork {
    /// Updates the carrier of every link from the carriers of its lower links and ports.
    ///
    /// Linux announces the carrier of a bridge about a second later. Here it is announced at once.
    mutating func settleUppers() {
        for device in devices {
            guard let isPlugged = carrierFromBelow(device), isPlugged != device.isPlugged else { continue }
            update(device.link.index) { $0.isPlugged = isPlugged }
            announceCarrier(device.link.index)
        }
    }

    /// Returns the carrier that results from lower links and ports; nil if the device does not depend on them.
    private func carrierFromBelow(_ device: Device) -> Bool? {
        if device.kind.followsLower, let lower = device.link.lowerIndex {
            return self.device(lower)?.hasCarrier ?? false
        }
        guard device.kind.followsPorts else { return nil }
        let ports = devices.filter { $0.link.controllerIndex == device.link.index }
        return ports.isEmpty ? nil : ports.contains(where: \.hasCarrier)
    }
}

extension FakeNetwork {
    /// The unicast default routes of the tables that rules lead to, as the kernel lists them: by family, `main` before the
    /// other tables, the best first.
    var defaultRoutes: [DefaultRoute] {
        AddressFamily.allCases.flatMap { family in
            tables(family).flatMap { table in
                entries.filter { entry in
                    entry.family == family && entry.table == table && entry.prefix.length == 0
                        && kind(of: entry) == .unicast
                }
                .sorted { $0.metric < $1.metric }
                .map { entry in
                    DefaultRoute(
                        family: family,
                        table: table,
                        metric: entry.metric,
                        nextHops: hops(of: entry).map(\.answer)
                    )
                }
            }
        }
    }

    private func tables(_ family: AddressFamily) -> [UInt32] {
        let named = rules.filter { $0.family == family }.compactMap { rule in
            if case .lookUp(let table) = rule.action { table } else { nil }
        }
        return [RoutingTable.main] + Set(named).subtracting([RoutingTable.main, RoutingTable.local]).sorted()
    }
}

extension FakeNetwork.Address {
    /// The response to a query for all addresses.
    var answer: InterfaceAddress {
        var flags: AddressFlags = []
        if isTentative { flags.insert(.tentative) }
        if isDeprecated { flags.insert(.deprecated) }
        if isSecondary { flags.insert(.secondary) }
        return InterfaceAddress(
            interface: interface,
            address: address,
            prefixLength: UInt8(prefix.length),
            flags: flags,
            scope: AddressScope(rawValue: scope.rawValue)
        )
    }
}

extension FakeNetwork {
    /// An address on a link.
    struct Place: Hashable, Sendable {
        var address: WireAddress
        var link: UInt32
    }

    /// Sets or removes a neighbour.
    mutating func setNeighbour(_ address: WireAddress, on name: String, _ neighbour: Neighbour?) throws(Refusal) {
        let index = try index(of: name)
        if neighbour != nil, device(index)?.isUp != true { throw Refusal("\(name) is down") }
        let place = Place(address: address, link: index)
        let hadFailed = neighbours[place]?.state == .failed
        neighbours[place] = neighbour
        if hadFailed != (neighbour?.state == .failed) { announceNeighbour(address) }
    }

    /// Returns whether IPv6 skips this hop, because its router does not answer (RFC 4191).
    ///
    /// C counterpart: `rt6_check_neigh`.
    func hasFailed(_ hop: Hop) -> Bool {
        guard let gateway = hop.gateway else { return false }
        return neighbours[Place(address: gateway, link: hop.interface)]?.state == .failed
    }

    /// Removes the neighbours of a link. After a loss of carrier, permanent neighbours are kept.
    mutating func forgetNeighbours(on index: UInt32, keepingPermanent: Bool = false) {
        let leaving = neighbours.filter { place, neighbour in
            place.link == index && !(keepingPermanent && neighbour.state == .permanent)
        }
        for (place, neighbour) in leaving {
            neighbours[place] = nil
            if neighbour.state == .failed { announceNeighbour(place.address) }
        }
    }

    /// Sends the message of a changed neighbour. IPv4 does not use the state for routing.
    private mutating func announceNeighbour(_ address: WireAddress) {
        guard address.family == .ipv6 else { return }
        announce(.neighbour, prefixes: [AddressPrefix(WireAddress(family: .ipv6, bits: 0), length: 0)])
    }
}
