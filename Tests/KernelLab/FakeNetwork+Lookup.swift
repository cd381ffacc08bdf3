import LinuxSupport
import Netlink

extension FakeNetwork {
    /// What the kernel answers when it is asked for a route.
    func answer(_ query: RouteQuery, at now: Duration) -> Result<Route, SystemError> {
        let bound = query.outputInterface.flatMap { device($0) }
        let controller = (bound?.link.controllerIndex).flatMap { device($0) }
        if let table = bound?.kind.table ?? controller?.kind.table {
            // Packets inside a VRF know its routes alone; bound to one of its ports, they take those through it.
            var (inside, query) = (self, query)
            inside.rules = AddressFamily.allCases.map { Rule(family: $0, priority: 1000, action: .lookUp(table)) }
            inside.hasHadRules = true
            if bound?.kind.table != nil { query.outputInterface = nil }
            return inside.plainAnswer(query, at: now)
        }
        return plainAnswer(query, at: now)
    }

    private func plainAnswer(_ query: RouteQuery, at now: Duration) -> Result<Route, SystemError> {
        do throws(SystemError) {
            return .success(
                query.destination.family == .ipv4 ? try ipv4Answer(query) : try ipv6Answer(query, at: now)
            )
        } catch {
            return .failure(error)
        }
    }

    /// Asks the tables in the order of the rules, until one says something.
    ///
    /// - Parameter lookUp: the entry and hop found in a table; nil lets the next rule decide.
    func walkRules(
        _ query: RouteQuery,
        _ lookUp: (UInt32) throws(SystemError) -> Finding?
    ) throws(SystemError) -> Finding {
        for rule in rules where rule.family == query.destination.family && rule.matches(query) {
            switch rule.action {
            case .fail(let error):
                throw error
            case .lookUp(let table):
                guard let finding = try lookUp(table) else { continue }
                if let length = rule.suppressedLength, finding.entry.prefix.length <= length { continue }
                return finding
            }
        }
        throw .networkUnreachable
    }

    /// The error of a route that leads nowhere; nil for all others.
    static func error(of kind: RouteKind) -> SystemError? {
        switch kind {
        case .blackhole: .invalidArgument
        case .unreachable: .hostUnreachable
        case .prohibit: .accessDenied
        default: nil
        }
    }

    /// What happens to packets of an entry, its next hop object considered.
    func kind(of entry: Entry) -> RouteKind {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.kind }
        let isHole = object.isBlackhole || object.members.contains { objects[$0]?.isBlackhole == true }
        return isHole ? .blackhole : entry.kind
    }

    /// The hops packets may take. A lost carrier alone is no reason not to, unless the system is set so; it never
    /// matters for packets to ourselves.
    func usableHops(of entry: Entry) -> [Hop] {
        hops(of: entry).filter { hop in
            guard !hop.isDead, let device = device(hop.interface) else { return false }
            return entry.kind == .local || !device.isAnnouncedDown || !ignoresLinkdown.contains(entry.family)
        }
    }

    /// The hop that the packets of one flow take: the same for the same flow, but not the one Linux would choose.
    static func choose(_ query: RouteQuery, among hops: [Hop]) -> Hop? {
        guard !hops.isEmpty else { return nil }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // IPv6 takes the transport protocol into account, too.
        let transport = query.destination.family == .ipv6 ? query.transport?.rawValue : nil
        for byte in query.destination.bytes + (query.source?.bytes ?? []) + (transport.map { [$0] } ?? []) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        // FNV spreads the last bytes over few bits.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        return hops[Int((hash >> 33) % UInt64(hops.count))]
    }
}

/// What a table said: the entry that matched and the hop to take.
struct Finding: Sendable {
    var entry: FakeNetwork.Entry
    /// The hop that was chosen; nil where the answer needs none.
    var hop: FakeNetwork.Hop
    /// The table as the answer names it.
    var table: UInt32
}

extension FakeNetwork {
    /// C counterpart: `inet_rtm_getroute`, `ip_route_output_key_hash_rcu`.
    func ipv4Answer(_ query: RouteQuery) throws(SystemError) -> Route {
        if let source = query.source, !isOwn(source) { throw .networkUnreachable }
        let output = try query.outputInterface.map { index throws(SystemError) in try usableOutput(index) }
        let destination = query.destination
        if destination.isUnspecified { return try ownAnswer(query, output) }
        if let output, destination.isLinkLocalMulticast || destination.isLimitedBroadcast {
            return try onLinkAnswer(query, output)
        }
        if output == nil, destination.isMulticast || destination.isLimitedBroadcast,
            let home = addresses.first(where: { $0.address == query.source }), let device = device(home.interface)
        {
            return try onLinkAnswer(query, device)
        }
        let finding: Finding
        do throws(SystemError) {
            finding = try ipv4Finding(query)
        } catch {
            // IPv4 takes a destination without a route to be on the link that was asked for.
            guard let output else { throw error }
            return try onLinkAnswer(query, output)
        }
        let kind = self.kind(of: finding.entry)
        if kind == .local {
            let loopback = Hop(interface: 1)
            return try ipv4Answer(
                query,
                finding,
                kind,
                loopback,
                source: finding.entry.source ?? destination,
                showsGateway: false
            )
        }
        let source = finding.entry.source ?? ipv4Source(for: finding.hop, scope: finding.entry.scope)
        if destination.isLimitedBroadcast {
            return try ipv4Answer(query, finding, .broadcast, finding.hop, source: source, showsGateway: false)
        }
        if destination.isMulticast {
            let showsGateway = finding.entry.prefix.length >= 4
            return try ipv4Answer(query, finding, .multicast, finding.hop, source: source, showsGateway: showsGateway)
        }
        return try ipv4Answer(query, finding, kind, finding.hop, source: source, showsGateway: kind != .broadcast)
    }

    /// Longest prefix, then metric, then age; one table after the other.
    private func ipv4Finding(_ query: RouteQuery) throws(SystemError) -> Finding {
        try walkRules(query) { table throws(SystemError) in
            // Without rules of one's own, both share a tree that is called `main`.
            if !hasHadRules, table == RoutingTable.local {
                return try ipv4Finding(query, in: [RoutingTable.local, RoutingTable.main], calling: RoutingTable.main)
            }
            return try ipv4Finding(query, in: [table], calling: table)
        }
    }

    private func ipv4Finding(
        _ query: RouteQuery,
        in tables: [UInt32],
        calling name: UInt32
    ) throws(SystemError) -> Finding? {
        let fitting = entries.enumerated().filter {
            $0.element.family == .ipv4 && tables.contains($0.element.table)
                && $0.element.prefix.covers(query.destination)
        }
        let ordered = fitting.sorted { one, other in
            let (a, b) = (one.element, other.element)
            // The local table (255) stands before the main one (254).
            return (b.prefix.length, b.table, a.metric, one.offset) < (a.prefix.length, a.table, b.metric, other.offset)
        }
        for (_, entry) in ordered {
            let kind = self.kind(of: entry)
            if kind == .throwing { return nil }
            if let error = FakeNetwork.error(of: kind) { throw error }
            let usable = usableHops(of: entry).filter { hop in
                query.outputInterface == nil || query.outputInterface == hop.interface
            }
            let preferred = usable.filter { hop in
                query.source != nil && query.source == ipv4Source(for: hop, scope: entry.scope)
            }
            let chosen =
                query.outputInterface == nil
                ? FakeNetwork.choose(query, among: preferred.isEmpty ? usable : preferred) : usable.first
            if let chosen { return Finding(entry: entry, hop: chosen, table: name) }
        }
        return nil
    }

    private func ipv4Answer(
        _ query: RouteQuery,
        _ finding: Finding,
        _ kind: RouteKind,
        _ hop: Hop,
        source: WireAddress?,
        showsGateway: Bool
    ) throws(SystemError) -> Route {
        if query.wantsEntry {
            return Route(
                kind: kind,
                table: finding.table,
                prefixLength: UInt8(finding.entry.prefix.length),
                metric: finding.entry.metric,
                nextHops: hops(of: finding.entry).map(\.answer),
                nextHopID: finding.entry.object,
                source: finding.entry.source
            )
        }
        let gateway = showsGateway ? hop.gateway : nil
        return Route(
            kind: kind,
            table: finding.table,
            prefixLength: 32,
            nextHops: [NextHop(interface: hop.interface, gateway: gateway)],
            // A source that was given is not given back.
            source: query.source == nil ? source : nil
        )
    }

    /// 0.0.0.0 is this very host (RFC 1122), whatever the routes are.
    private func ownAnswer(_ query: RouteQuery, _ output: Device?) throws(SystemError) -> Route {
        if query.wantsEntry { throw .hostUnreachable }
        let own = output.flatMap { ipv4Source(for: Hop(interface: $0.link.index), scope: .host) }
        return Route(
            kind: .local,
            prefixLength: 32,
            nextHops: [NextHop(interface: 1)],
            source: query.source == nil ? own ?? WireAddress(ipv4: 0x7f00_0001) : nil
        )
    }

    private func onLinkAnswer(_ query: RouteQuery, _ device: Device) throws(SystemError) -> Route {
        if query.wantsEntry { throw .hostUnreachable }
        let destination = query.destination
        let kind: RouteKind =
            destination.isLimitedBroadcast ? .broadcast : destination.isMulticast ? .multicast : .unicast
        let hop = Hop(interface: device.link.index)
        return Route(
            kind: kind,
            prefixLength: 32,
            nextHops: [hop.answer],
            source: query.source == nil ? ipv4Source(for: hop, scope: .link) : nil
        )
    }

    private func usableOutput(_ index: UInt32) throws(SystemError) -> Device {
        guard let device = device(index) else { throw .noDevice }
        guard device.isUp else { throw .networkUnreachable }
        return device
    }
}

extension WireAddress {
    /// 224.0.0.0/24, which no router forwards (RFC 5771).
    fileprivate var isLinkLocalMulticast: Bool { family == .ipv4 && bits >> 8 == 0xe0_0000 }

    /// 255.255.255.255 (RFC 919).
    fileprivate var isLimitedBroadcast: Bool { family == .ipv4 && bits == 0xffff_ffff }
}
