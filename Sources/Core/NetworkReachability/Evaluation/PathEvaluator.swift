package import LinuxSupport
import Netlink

/// Decides whether packets to single addresses would be delivered.
///
/// A pure function of the kernel's answers: it sends no query, and keeps no state from one evaluation to the next. Each
/// of its conditions is required by an observed case.
package struct PathEvaluator {
    package var answers: Answers
    /// The tunnels that lead to the address being evaluated.
    var tunnels: [UInt32] = []
    /// The far ends of tunnels that were also evaluated. Routes to them affect the result.
    package internal(set) var tunnelEnds: Set<WireAddress> = []
    /// The cached results of earlier evaluations.
    package var cache: EvaluationCache

    package init(_ answers: Answers = Answers(), _ cache: EvaluationCache = EvaluationCache()) {
        (self.answers, self.cache) = (answers, cache)
    }

    /// Returns the verdicts in the order of the checks.
    package mutating func verdicts(on checks: [AddressCheck]) throws(MissingAnswers) -> [Verdict] {
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(checks.count)
        try MissingAnswers.forEach(checks) { check throws(MissingAnswers) in
            verdicts.append(try verdict(on: check))
        }
        return verdicts
    }

    /// Returns the verdict on packets to one address.
    package mutating func verdict(on check: AddressCheck) throws(MissingAnswers) -> Verdict {
        var verdict = Verdict(destination: check.address, outcome: .failure(Verdict.Obstacle(.noInterface)))
        guard var query = try query(for: check) else { return verdict }
        if let source = query.source, !(try isOwn(source)) {
            verdict.outcome = .failure(Verdict.Obstacle(.noSourceAddress))
            return verdict
        }
        let first = try answers.route(query)
        // While the loopback device is down, 127.0.0.0/8 is not local, and a default route would send the packets to a
        // router.
        if query.destination.isLoopback, (try? first.get())?.kind != .local, try answers.link(1)?.isUp == false {
            verdict.outcome = .failure(Verdict.Obstacle(.linkDown, link: 1))
            return verdict
        }
        guard case .success(var route) = first else {
            if case .failure(let error) = first { verdict.outcome = .failure(try obstacle(error, query)) }
            return verdict
        }
        route.source = query.source ?? route.source
        if route.kind != .local {
            switch query.destination.family {
            case .ipv4:
                // An IPv4 socket repeats its lookup with the selected source address. Rules on the source and the
                // choice among several next hops depend on it.
                if let source = route.source {
                    query.source = source
                    switch try answers.route(query) {
                    case .failure(let error):
                        verdict.outcome = .failure(Verdict.Obstacle(error))
                        return verdict
                    case .success(let answer):
                        route = answer
                        route.source = source
                        verdict.lifetime = answer.lifetime
                    }
                }
            case .ipv6:
                // A route can expire. Only the routing table entry contains the lifetime.
                let entry = try answers.entry(query)
                verdict.lifetime = entry?.lifetime
                if let entry, entry.nextHops.count != 1 {
                    verdict.outcome = try permitted(try egressOfEachTransport(query), check.constraints)
                    return verdict
                }
            }
        }
        verdict.outcome = try permitted(try egress(query, route), check.constraints)
        return verdict
    }

    /// Judges an IPv6 route with several next hops. The kernel selects a next hop by addresses and transport protocol,
    /// with or without carrier (measured with packets). TCP and UDP to one address may therefore use different next
    /// hops, and both must work.
    private mutating func egressOfEachTransport(
        _ query: RouteQuery
    ) throws(MissingAnswers) -> Result<Verdict.Egress, Verdict.Obstacle> {
        var outcomes: [Result<Verdict.Egress, Verdict.Obstacle>] = []
        try MissingAnswers.forEach(TransportProtocol.allCases) { transport throws(MissingAnswers) in
            var query = query
            query.transport = transport
            switch try answers.route(query) {
            case .failure(let error): outcomes.append(.failure(try obstacle(error, query)))
            case .success(var route):
                route.source = query.source ?? route.source
                outcomes.append(try egress(query, route))
            }
        }
        return outcomes.first { if case .failure = $0 { true } else { false } } ?? outcomes[0]
    }

    /// Returns whether a socket can be bound to an address: it must be assigned to this machine and not tentative.
    private mutating func isOwn(_ address: WireAddress) throws(MissingAnswers) -> Bool {
        if case .success(let route) = try answers.route(RouteQuery(destination: address)) {
            route.kind == .local
        } else {
            false
        }
    }

    /// Returns an obstacle if packets leave through an interface of an excluded type; otherwise the outcome unchanged.
    /// Packets to this machine itself are not restricted.
    private mutating func permitted(
        _ outcome: Result<Verdict.Egress, Verdict.Obstacle>,
        _ constraints: PathConstraints
    ) throws(MissingAnswers) -> Result<Verdict.Egress, Verdict.Obstacle> {
        guard constraints.limitsTypes, case .success(let egress) = outcome, !egress.isLocal,
            let link = try answers.link(egress.link)
        else { return outcome }
        let type = try cache.interfaces.entry(for: link, &answers).interface.type
        if constraints.permits(type) { return outcome }
        var obstacle = Verdict.Obstacle(.interfaceNotAllowed, link: link.index)
        (obstacle.gateway, obstacle.source) = (egress.gateway, egress.source)
        return .failure(obstacle)
    }

    /// Returns the first route query for a check; nil if the required zone is missing or does not exist.
    private mutating func query(for check: AddressCheck) throws(MissingAnswers) -> RouteQuery? {
        var query = RouteQuery(destination: check.address.wire, mark: check.constraints.mark)
        if let zone = check.zone {
            guard let link = try answers.link(zone: zone) else { return nil }
            query.outputInterface = link.index
        } else if check.address.isIPv6, check.address.isLinkLocal {
            // Without a zone the kernel selects any link with fe80::/64, so the result has no meaning.
            return nil
        }
        query.source = check.constraints.source?.wire
        return query
    }

    /// Returns the cause of a failed lookup. If the packets are bound to a link that is down, the link is the cause.
    private mutating func obstacle(
        _ error: SystemError,
        _ query: RouteQuery
    ) throws(MissingAnswers) -> Verdict.Obstacle {
        let obstacle = Verdict.Obstacle(error)
        guard obstacle.cause == .noRoute, let bound = query.outputInterface,
            let cause = try answers.link(bound)?.obstacle
        else { return obstacle }
        return Verdict.Obstacle(cause, link: bound)
    }

    /// Judges the next hop that the kernel selected. The kernel also selects next hops without carrier, unless
    /// `ignore_routes_with_linkdown` was set before the carrier was lost.
    mutating func egress(
        _ query: RouteQuery,
        _ route: Route
    ) throws(MissingAnswers) -> Result<Verdict.Egress, Verdict.Obstacle> {
        guard route.kind.carriesPackets else { return .failure(Verdict.Obstacle(.refused)) }
        guard let hop = route.nextHop, let link = try answers.link(hop.interface) else {
            return .failure(Verdict.Obstacle(.noInterface))
        }
        var obstacle = Verdict.Obstacle(.noRoute, link: link.index)
        (obstacle.gateway, obstacle.source) = (hop.gateway, route.source)
        func blocked(_ cause: Verdict.Cause) -> Result<Verdict.Egress, Verdict.Obstacle> {
            obstacle.cause = cause
            return .failure(obstacle)
        }
        if let cause = link.obstacle { return blocked(cause) }
        if try hasNoRoute(query, route) { return .failure(Verdict.Obstacle(.noRoute)) }
        if route.kind == .unicast, try isDiscarded(query, by: link) { return blocked(.discarded) }
        guard let source = route.source else { return blocked(.noSourceAddress) }
        if route.kind != .local, !(try canBeAnswered(source, query, hop)) { return blocked(.noSourceAddress) }
        if let cause = try lowerObstacle(of: link, query, from: source) {
            obstacle.isBelow = true
            return blocked(cause)
        }
        return .success(
            Verdict.Egress(
                link: link.index,
                gateway: hop.gateway,
                source: source,
                table: route.table,
                mtu: route.mtu == 0 ? link.mtu : route.mtu,
                isLocal: route.kind == .local
            )
        )
    }

    /// Returns whether the route is in no table. With an output interface, IPv4 treats every address without a route as
    /// a neighbour on that link. Such a neighbour does not answer, but a link that needs no neighbour resolution
    /// forwards the packets.
    private mutating func hasNoRoute(_ query: RouteQuery, _ route: Route) throws(MissingAnswers) -> Bool {
        guard let bound = query.outputInterface, query.destination.family == .ipv4, !query.destination.isLinkLocal,
            route.kind == .unicast, route.table == nil
        else { return false }
        return try answers.link(bound)?.resolvesNeighbours ?? false
    }

    /// Returns whether packets take a default route through a device that discards them. Narrower routes through such a
    /// device are accepted, because containers and clusters use them for services that packet filters answer.
    mutating func isDiscarded(_ query: RouteQuery, by link: Link) throws(MissingAnswers) -> Bool {
        guard link.discardsPackets else { return false }
        // Half of the address space (0.0.0.0/1) and all public IPv6 addresses (2000::/3) count as default routes.
        return (try answers.entry(query)?.prefixLength ?? 0) < 4
    }

    /// Returns whether a reply can reach `source`. A link-local source works only for destinations on the link, because
    /// routers do not forward it (RFC 4291).
    ///
    /// A router may forward or translate an IPv4 address of 169.254.0.0/16. The kernel uses one with link scope for a
    /// router only if the route or the socket names it. Without a router, the scope decides.
    private mutating func canBeAnswered(
        _ source: WireAddress,
        _ query: RouteQuery,
        _ hop: NextHop
    ) throws(MissingAnswers) -> Bool {
        let destination = query.destination
        if source.isUnspecified || source.isLoopback { return destination.isLoopback }
        guard source.isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
        if let gateway = hop.gateway { return source.family == .ipv4 || gateway == destination }
        if source.family == .ipv4, try answers.addresses().contains(where: { $0.address == source && !$0.isLinkLocal })
        {
            return true
        }
        // A default route to the link does not make the destination a neighbour. A prefix must match it.
        return (try answers.entry(query)?.prefixLength ?? 0) > 0
    }
}

/// An address with the constraints that its packets are subject to.
package struct AddressCheck: Hashable, Sendable {
    package let address: IPAddress
    package let constraints: PathConstraints

    package init(_ address: IPAddress, _ constraints: PathConstraints = PathConstraints()) {
        (self.address, self.constraints) = (address, constraints)
    }

    /// The name or index of the interface that packets are bound to; nil if they are not bound. The zone of the address
    /// takes precedence.
    package var zone: String? { address.zone ?? constraints.interface }
}
