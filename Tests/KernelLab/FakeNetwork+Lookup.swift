import LinuxSupport
import Netlink

extension FakeNetwork {
    /// Returns the response to a route query.
    func answer(_ query: RouteQuery, at now: Duration) -> Result<Route, SystemError> {
        let bound = query.outputInterface.flatMap { device($0) }
        let controller = (bound?.link.controllerIndex).flatMap { device($0) }
        if let table = bound?.kind.table ?? controller?.kind.table {
            // Packets that are bound to a VRF use only its routes. Packets that are bound to a port of it use the
            // routes through that port.
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
            return .success(query.destination.family == .ipv4 ? try ipv4Answer(query) : try ipv6Answer(query, at: now))
        } catch {
            return .failure(error)
        }
    }

    /// Looks up the tables in the order of the rules until one has a result.
    ///
    /// - Parameter lookUp: Returns the entry and hop that a table contains; nil to continue with the next rule.
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

    /// Returns the error of a rejecting route; nil for other routes.
    static func error(of kind: RouteKind) -> SystemError? {
        switch kind {
        case .blackhole: .invalidArgument
        case .unreachable: .hostUnreachable
        case .prohibit: .accessDenied
        default: nil
        }
    }

    /// Returns the type of an entry, including the effect of its next hop object.
    func kind(of entry: Entry) -> RouteKind {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.kind }
        let isHole = object.isBlackhole || object.members.contains { objects[$0]?.isBlackhole == true }
        return isHole ? .blackhole : entry.kind
    }

    /// Returns the usable hops. Hops without carrier are usable unless `ignore_routes_with_linkdown` is set. For
    /// packets to this machine the carrier is irrelevant.
    func usableHops(of entry: Entry) -> [Hop] {
        hops(of: entry).filter { hop in
            guard !hop.isDead, let device = device(hop.interface) else { return false }
            return entry.kind == .local || !device.isAnnouncedDown || !ignoresLinkdown.contains(entry.family)
        }
    }

    /// Returns the hop of a flow. It is always the same for a flow, but not the one that Linux would select.
    static func choose(_ query: RouteQuery, among hops: [Hop]) -> Hop? {
        guard !hops.isEmpty else { return nil }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // IPv6 also considers the transport protocol.
        let transport = query.destination.family == .ipv6 ? query.transport?.rawValue : nil
        for byte in query.destination.bytes + (query.source?.bytes ?? []) + (transport.map { [$0] } ?? []) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        // FNV distributes the last bytes over few bits.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        return hops[Int((hash >> 33) % UInt64(hops.count))]
    }
}

/// The result of a table: the matching entry and the selected hop.
struct Finding: Sendable {
    var entry: FakeNetwork.Entry
    /// The selected hop.
    var hop: FakeNetwork.Hop
    /// The table in the answer.
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
            // IPv4 assumes that a destination without a route is on the requested link.
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

    /// Returns the result for IPv4: the longest prefix, then the best metric, then the oldest route, in one table
    /// after the other.
    private func ipv4Finding(_ query: RouteQuery) throws(SystemError) -> Finding {
        try walkRules(query) { table throws(SystemError) in
            // Without configured rules both tables share a tree that is named `main`.
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
            // The local table (255) precedes the main one (254).
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
            // A requested source is not part of the answer.
            source: query.source == nil ? source : nil
        )
    }

    /// Returns the answer for 0.0.0.0, which is this host (RFC 1122), regardless of the routes.
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
    /// Whether the address is in 224.0.0.0/24, which routers do not forward (RFC 5771).
    fileprivate var isLinkLocalMulticast: Bool { family == .ipv4 && bits >> 8 == 0xe0_0000 }

    /// Whether the address is 255.255.255.255 (RFC 919).
    fileprivate var isLimitedBroadcast: Bool { family == .ipv4 && bits == 0xffff_ffff }
}
