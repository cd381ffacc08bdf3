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
        // Packets to this machine use the loopback device.
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
        // Routes through failed gateways are used only if the table has no other.
        let rounds = [false, true].flatMap { takesFailed in lengths.map { (length: $0, takesFailed: takesFailed) } }
        for (length, takesFailed) in rounds {
            // Only routes with the best metric are used, unless none of them is usable.
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

    /// Returns the first entry with a usable hop, preferably through the requested interface.
    private func choose(_ query: RouteQuery, _ entries: [Entry], takesFailed: Bool) -> (Entry, [Hop])? {
        let candidates = entries.map { ($0, usableHops(of: $0).filter { takesFailed || !hasFailed($0) }) }
        guard let output = query.outputInterface else { return candidates.first { !$0.1.isEmpty || isHole($0.0) } }
        for (entry, hops) in candidates {
            let fitting = hops.filter { $0.interface == output }
            if !fitting.isEmpty { return (entry, fitting) }
        }
        // Packets to an address of this link or host, and packets without a source, may not use another interface.
        let isStrict = query.source == nil || query.destination.needsInterface
        return isStrict ? nil : candidates.first { !$0.1.isEmpty }
    }

    private func isHole(_ entry: Entry) -> Bool {
        kind(of: entry) == .blackhole
    }
}

extension WireAddress {
    /// Whether the address is ambiguous without an interface: multicast, link-local and loopback addresses are.
    fileprivate var needsInterface: Bool { isMulticast || isLinkLocal || isLoopback }
}

extension FakeNetwork {
    /// Returns the source of packets to `destination` through the interface: the best address by RFC 6724, section 5.
    /// Among equal addresses the latest is preferred. Nil if there is no address.
    ///
    /// C counterpart: `ipv6_dev_get_saddr`.
    func ipv6Source(for destination: WireAddress, through interface: UInt32) -> WireAddress? {
        let isLocal = destination.isMulticast || destination.sourceScope <= 2
        let candidates = addresses.filter {
            $0.family == .ipv6 && !$0.isTentative && (!isLocal || $0.interface == interface)
        }
        // Addresses are sorted by device first.
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

    /// Returns the results of the rules in order. Higher numbers are better.
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
    /// The scope of an IPv6 address. The loopback address counts as link-local (RFC 6724, section 3.4), and `::` has
    /// scope 0.
    var sourceScope: Int {
        if isUnspecified { return 0 }
        if isMulticast { return Int(bits >> 112 & 0xf) }
        if isLoopback || isLinkLocal { return 2 }
        return bits >> 118 == 0x3fb ? 5 : 14
    }

    /// The label in Linux's policy table (RFC 6724, section 2.1).
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
