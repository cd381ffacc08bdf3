import LinuxPrimitives
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
