import LinuxSupport
import Netlink

/// A Linux network namespace as a value: what was configured, and what the kernel makes of it.
///
/// Changes are refused where Linux refuses them, and note in `received` the messages that Linux would send; a copy is a
/// snapshot. Answers depend on nothing but the value and the time given.
struct FakeNetwork: Sendable {
    /// In the order of their indices.
    var devices: [Device] = []
    /// In the order in which source addresses are tried.
    var addresses: [Address] = []
    /// In the order in which they were added.
    var entries: [Entry] = []
    /// In the order in which they are tried.
    var rules: [Rule] = []
    var objects: [UInt32: Object] = [:]
    /// Who was found on which link.
    var neighbours: [Place: Neighbour] = [:]
    /// The far ends of tunnels that may have several, by the index of the tunnel.
    var farEnds: [UInt32: [TunnelFarEnd]] = [:]
    /// Whether whoever asks may see the peers of WireGuard (CAP_NET_ADMIN).
    var showsPeers = true
    /// The families whose `ignore_routes_with_linkdown` is set for all devices.
    var ignoresLinkdown: Set<AddressFamily> = []
    /// The first rule ever splits the IPv4 tables `local` and `main`, which share one tree before.
    var hasHadRules = false
    private var nextIndex: UInt32 = 1
    private var received = EventBurst()

    /// A namespace as every system has it at start: the loopback device, up, and the rules that were always there.
    init() {
        for family in AddressFamily.allCases { rules += Rule.standard(family) }
        let loopback = LinkSpecification(name: "lo", kind: .loopback, isUp: true, hasCarrier: true)
        // Nothing of a fresh namespace can be refused.
        try? addLink(loopback)
        try? addAddress(Prefix(WireAddress(ipv4: 0x7f00_0001), length: 8), to: "lo")
        _ = takeHeard()
    }

    /// Notes one message of the kernel about `subjects`.
    mutating func hear(_ subjects: EventBurst.Subjects, count: Int = 1, prefixes: ChangedPrefixes? = nil) {
        received.add(EventBurst(messages: count, subjects: count == 0 ? [] : subjects, prefixes: prefixes))
    }

    /// Notes RTM_NEWROUTE or RTM_DELROUTE.
    mutating func hear(_ entry: Entry, removed: Bool = false) {
        var subjects: EventBurst.Subjects = [.route, removed ? .removal : .addition]
        guard entry.prefix.length > 0 else {
            subjects.insert(.defaultRoute)
            hear(subjects)
            return
        }
        hear(subjects, prefixes: [AddressPrefix(entry.prefix.address, length: entry.prefix.length)])
    }

    /// What was received since the last call.
    mutating func takeHeard() -> EventBurst {
        defer { received = EventBurst() }
        return received
    }

    /// Indices count up and are never given again.
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

    /// The index of the device called `name`.
    func index(of name: String) throws(Refusal) -> UInt32 {
        guard let device = device(named: name) else { throw Refusal("there is no link \"\(name)\"") }
        return device.link.index
    }

    /// Changes the device of this index, where it exists.
    mutating func update(_ index: UInt32, _ change: (inout Device) -> Void) {
        guard let position = devices.firstIndex(where: { $0.link.index == index }) else { return }
        change(&devices[position])
    }
}

extension FakeNetwork {
    /// An address of a device.
    struct Address: Hashable, Sendable {
        /// The address itself with the length of its prefix.
        var prefix: Prefix
        var interface: UInt32
        /// Duplicate address detection has not ended (IFA_F_TENTATIVE).
        var isTentative = false
        /// Past its preferred lifetime (IFA_F_DEPRECATED).
        var isDeprecated = false
        /// IPv4: another address of the same prefix came first (IFA_F_SECONDARY).
        var isSecondary = false

        var address: WireAddress { prefix.address }
        var family: AddressFamily { prefix.family }

        /// IPv4: valid on the link alone.
        var isOfLink = false

        /// IPv4: without more, as `ip address add` sets it. IPv6: of the address itself.
        var scope: Scope {
            switch family {
            case .ipv4: address.isLoopback ? .host : isOfLink ? .link : .universe
            case .ipv6: address.isLoopback ? .host : address.isLinkLocal ? .link : .universe
            }
        }
    }
}

extension FakeNetwork {
    /// The source of packets that leave by a hop: the device's first address, better one in the router's prefix, else
    /// one of another device. Nil, and packets leave without one, where there is none.
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
        /// The device went away under a route that has other hops (RTNH_F_DEAD).
        var isDead = false

        var answer: NextHop { NextHop(interface: interface, gateway: gateway) }
    }
}

extension FakeNetwork {
    /// A next hop object: a hop, a group of others, or a hole.
    struct Object: Hashable, Sendable {
        var hop: Hop?
        var members: [UInt32] = []
        var isBlackhole = false
    }
}

extension FakeNetwork.Rule {
    /// What the kernel tells of it.
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
    /// Lets the carrier of every link that runs over others follow theirs.
    ///
    /// Linux announces a bridge about a second later; here it is announced at once.
    mutating func settleUppers() {
        for device in devices {
            guard let isPlugged = carrierFromBelow(device), isPlugged != device.isPlugged else { continue }
            update(device.link.index) { $0.isPlugged = isPlugged }
            announceCarrier(device.link.index)
        }
    }

    /// Nil where nothing below decides.
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
    /// What the kernel answers when it is asked for all addresses.
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

    /// Takes note of a neighbour, or forgets it.
    mutating func setNeighbour(_ address: WireAddress, on name: String, _ neighbour: Neighbour?) throws(Refusal) {
        let index = try index(of: name)
        if neighbour != nil, device(index)?.isUp != true { throw Refusal("\(name) is down") }
        let place = Place(address: address, link: index)
        let hadFailed = neighbours[place]?.state == .failed
        neighbours[place] = neighbour
        if hadFailed != (neighbour?.state == .failed) { hearNeighbour(address) }
    }

    /// Whether packets over this hop are better sent elsewhere: IPv6 hosts pass over routers that do not answer (RFC 4191).
    ///
    /// C counterpart: `rt6_check_neigh`.
    func hasFailed(_ hop: Hop) -> Bool {
        guard let gateway = hop.gateway else { return false }
        return neighbours[Place(address: gateway, link: hop.interface)]?.state == .failed
    }

    /// A link that goes down forgets all it knows, one that loses its carrier keeps what was set for good.
    mutating func forgetNeighbours(on index: UInt32, keepingPermanent: Bool = false) {
        let leaving = neighbours.filter { place, neighbour in
            place.link == index && !(keepingPermanent && neighbour.state == .permanent)
        }
        for (place, neighbour) in leaving {
            neighbours[place] = nil
            if neighbour.state == .failed { hearNeighbour(place.address) }
        }
    }

    /// IPv4 does not care.
    private mutating func hearNeighbour(_ address: WireAddress) {
        guard address.family == .ipv6 else { return }
        hear(.neighbour, prefixes: [AddressPrefix(WireAddress(family: .ipv6, bits: 0), length: 0)])
    }
}
