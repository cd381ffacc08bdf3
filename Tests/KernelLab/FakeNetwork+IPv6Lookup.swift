import LinuxSupport
import Netlink

extension FakeNetwork {
    /// C counterpart: `inet6_rtm_getroute`, `ip6_pol_route`.
    func ipv6Answer(_ query: RouteQuery, at now: Duration) throws(SystemError) -> Route {
        let finding = try walkRules(query) { table throws(SystemError) in try ipv6Finding(query, in: table, at: now) }
        let entry = finding.entry
        if query.wantsEntry {
            return Route(
                kind: entry.kind,
                table: entry.table,
                prefixLength: UInt8(entry.prefix.length),
                metric: entry.metric,
                nextHops: hops(of: entry).map(\.answer),
                nextHopID: entry.object,
                source: entry.source,
                lifetime: entry.end.map { $0 - now }
            )
        }
        // Packets to ourselves go through the loopback device.
        let output = entry.kind == .local ? 1 : finding.hop.interface
        return Route(
            kind: entry.kind,
            table: entry.table,
            prefixLength: 128,
            metric: entry.metric,
            nextHops: [NextHop(interface: output, gateway: finding.hop.gateway)],
            source: entry.source ?? ipv6Source(for: query.destination, through: finding.hop.interface)
        )
    }

    private func ipv6Finding(_ query: RouteQuery, in table: UInt32, at now: Duration) throws(SystemError) -> Finding? {
        let fitting = entries.filter {
            $0.family == .ipv6 && $0.table == table && $0.prefix.covers(query.destination) && !$0.hasEnded(at: now)
        }
        let lengths = Set(fitting.map(\.prefix.length)).sorted(by: >)
        // Routes over gateways that have failed are the last resort of each table.
        let rounds = [false, true].flatMap { takesFailed in lengths.map { (length: $0, takesFailed: takesFailed) } }
        for (length, takesFailed) in rounds {
            // The best metric alone decides, unless nothing of it can be used.
            let node = fitting.enumerated().filter { $0.element.prefix.length == length }
                .sorted { ($0.element.metric, $0.offset) < ($1.element.metric, $1.offset) }.map(\.element)
            let best = node.filter { $0.metric == node[0].metric }
            let rest = node.filter { $0.metric != node[0].metric }
            guard
                let (entry, usable) = choose(query, best, takesFailed: takesFailed)
                    ?? choose(query, rest, takesFailed: takesFailed)
            else { continue }
            let kind = self.kind(of: entry)
            if kind == .throwing { return nil }
            if let error = FakeNetwork.error(of: kind) { throw error }
            guard let hop = FakeNetwork.choose(query, among: usable) else { continue }
            return Finding(entry: entry, hop: hop, table: table)
        }
        return nil
    }

    /// The first entry with a hop that may be used, better one through the interface that was asked for.
    private func choose(_ query: RouteQuery, _ entries: [Entry], takesFailed: Bool) -> (Entry, [Hop])? {
        let candidates = entries.map { ($0, usableHops(of: $0).filter { takesFailed || !hasFailed($0) }) }
        guard let output = query.outputInterface else { return candidates.first { !$0.1.isEmpty || isHole($0.0) } }
        for (entry, hops) in candidates {
            let fitting = hops.filter { $0.interface == output }
            if !fitting.isEmpty { return (entry, fitting) }
        }
        // An address of this link or host, or a packet without a source, may not leave elsewhere.
        let isStrict = query.source == nil || query.destination.needsInterface
        return isStrict ? nil : candidates.first { !$0.1.isEmpty }
    }

    private func isHole(_ entry: Entry) -> Bool {
        kind(of: entry) == .blackhole
    }
}

extension WireAddress {
    /// Multicast, link-local and loopback addresses mean nothing without their link.
    fileprivate var needsInterface: Bool { isMulticast || isLinkLocal || isLoopback }
}

extension FakeNetwork {
    /// The source of packets to `destination` that leave through the interface: the best by RFC 6724, section 5, with
    /// the newest first among equals. Nil where there is none at all.
    ///
    /// C counterpart: `ipv6_dev_get_saddr`.
    func ipv6Source(for destination: WireAddress, through interface: UInt32) -> WireAddress? {
        let isLocal = destination.isMulticast || destination.sourceScope <= 2
        let candidates = addresses.filter {
            $0.family == .ipv6 && !$0.isTentative && (!isLocal || $0.interface == interface)
        }
        // The order of devices comes before that of their addresses.
        let ordered = candidates.enumerated().sorted {
            ($0.element.interface, $0.offset) < ($1.element.interface, $1.offset)
        }.map(\.element)
        var best: (address: Address, merits: [Int])?
        for address in ordered {
            let merits = merits(of: address, for: destination, through: interface)
            if let best, !best.merits.lexicographicallyPrecedes(merits) { continue }
            best = (address, merits)
        }
        return best?.address.address
    }

    /// The rules in their order; more is better.
    private func merits(of candidate: Address, for destination: WireAddress, through interface: UInt32) -> [Int] {
        let address = candidate.address
        let scope = address.sourceScope
        let wanted = destination.sourceScope
        return [
            address == destination ? 1 : 0,
            scope >= wanted ? -scope : scope - 128,
            candidate.isDeprecated ? 0 : 1,
            candidate.interface == interface ? 1 : 0,
            address.label == destination.label ? 1 : 0,
            min(address.commonPrefixLength(with: destination), candidate.prefix.length),
        ]
    }
}

extension WireAddress {
    /// How far an IPv6 address reaches, with the loopback address counted as link-local (RFC 6724, section 3.4) and
    /// `::` as reaching nowhere.
    var sourceScope: Int {
        if isUnspecified { return 0 }
        if isMulticast { return Int(bits >> 112 & 0xf) }
        if isLoopback || isLinkLocal { return 2 }
        return bits >> 118 == 0x3fb ? 5 : 14
    }

    /// The label of the policy table as Linux has it (RFC 6724, section 2.1).
    fileprivate var label: Int {
        let table: [(String, Int, Int)] = [
            ("::1", 128, 0), ("::ffff:0:0", 96, 4), ("::", 96, 3), ("2001::", 32, 6), ("2001:10::", 28, 7),
            ("2002::", 16, 2), ("fc00::", 7, 5),
        ]
        for (prefix, length, label) in table {
            if let prefix = WireAddress(prefix), isCovered(by: prefix, length: length) { return label }
        }
        return 1
    }

    fileprivate func commonPrefixLength(with other: WireAddress) -> Int {
        (bits ^ other.bits).leadingZeroBitCount
    }
}
