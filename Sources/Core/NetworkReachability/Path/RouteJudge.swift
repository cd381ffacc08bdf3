import LinuxPrimitives
import Netlink

/// Decides, for single addresses, whether packets would get through. Every line of it was needed by a real case.
///
/// The kernel is the state: nothing is remembered from one evaluation to the next.
struct RouteJudge {
    let kernel: any KernelConnection
    /// The tunnels that lead to the addresses asked about.
    let tunnels: [UInt32]
    var expectation: Expectation
    var links: LinkTable

    init(
        kernel: any KernelConnection,
        links: LinkTable,
        expectation: Expectation = Expectation(),
        tunnels: [UInt32] = []
    ) {
        self.expectation = expectation
        self.kernel = kernel
        self.links = links
        self.tunnels = tunnels
    }

    /// One verdict for each inquiry, in the same order; one to three round trips for each 64 of them.
    mutating func judge(_ inquiries: inout [Inquiry]) throws(NetlinkError) -> [Verdict] {
        if inquiries.isEmpty { return [] }
        for index in inquiries.indices { inquiries[index].query = try query(for: inquiries[index]) }
        let answers = try answers(to: &inquiries)
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(inquiries.count)
        for inquiry in inquiries { verdicts.append(try verdict(on: inquiry, answers)) }
        return verdicts
    }

    /// What to ask first; nil where the zone is missing or leads nowhere.
    private mutating func query(for inquiry: Inquiry) throws(NetlinkError) -> RouteQuery? {
        let address = inquiry.address
        var query = RouteQuery(destination: address.wire, mark: inquiry.mark)
        if let zone = inquiry.zone {
            guard let link = try links.link(zone: zone) else { return nil }
            query.outputInterface = link.index
        } else if address.isIPv6, address.isLinkLocal {
            // Without a zone the kernel picks any link with fe80::/64, which says nothing.
            return nil
        }
        return query
    }

    private mutating func verdict(
        on inquiry: Inquiry,
        _ answers: [Result<Route, SystemError>]
    ) throws(NetlinkError) -> Verdict {
        var verdict = Verdict(destination: inquiry.address, outcome: .failure(Verdict.Obstacle(.noInterface)))
        guard var query = inquiry.query, let first = inquiry.first else { return verdict }
        // While the loopback device is down its addresses are foreign, and a default route would take packets to a router.
        if query.destination.isLoopback, (try? answers[first].get())?.kind != .local,
            try links.link(index: 1)?.isUp == false
        {
            verdict.outcome = .failure(Verdict.Obstacle(.linkDown, link: 1))
            return verdict
        }
        switch answers[first] {
        case .success(var route):
            var entry = inquiry.entry.flatMap { try? answers[$0].get() }
            if let second = inquiry.second {
                switch answers[second] {
                case .success(let answer):
                    verdict.lifetime = answer.lifetime
                    if query.destination.family == .ipv4 {
                        query.source = route.source
                        route = answer
                        route.source = query.source
                    } else {
                        entry = answer
                    }
                case .failure(let error):
                    guard query.destination.family == .ipv6 else {
                        verdict.outcome = .failure(Verdict.Obstacle(error))
                        return verdict
                    }
                }
            }
            verdict.outcome = try anyWay(query, route, entry: entry)
        case .failure(let error): verdict.outcome = .failure(try obstacle(error, query))
        }
        return verdict
    }

    /// What a lookup failed with; where packets are bound to a link that is down, that says more.
    private mutating func obstacle(
        _ error: SystemError,
        _ query: RouteQuery
    ) throws(NetlinkError) -> Verdict.Obstacle {
        let obstacle = Verdict.Obstacle(error)
        guard obstacle.cause == .noRoute, let bound = query.outputInterface,
            let cause = try links.state(index: bound)?.obstacle
        else { return obstacle }
        return Verdict.Obstacle(cause, link: bound)
    }

    /// Judges a route by its first leg, and where that is dead by the others.
    private mutating func anyWay(
        _ query: RouteQuery,
        _ route: Route,
        entry: Route?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        let direct = try way(query, route, entry: entry)
        guard case .failure(let obstacle) = direct else { return direct }
        guard obstacle.cause.isOfOneLeg else { return direct }
        return try otherLeg(query, route, entry, not: route.nextHop?.interface) ?? direct
    }

    /// Judges the first leg of a route.
    mutating func way(
        _ query: RouteQuery,
        _ route: Route,
        entry: Route?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        guard route.kind.carriesPackets else { return .failure(Verdict.Obstacle(.refused)) }
        guard let leg = route.nextHop, let link = try links.state(index: leg.interface) else {
            return .failure(Verdict.Obstacle(.noInterface))
        }
        let isLocal = route.kind == .local
        func blocked(
            _ cause: Verdict.Cause,
            below isBelow: Bool = false
        ) -> Result<Verdict.Way, Verdict.Obstacle> {
            var obstacle = Verdict.Obstacle(cause, link: link.index)
            obstacle.isBelow = isBelow
            obstacle.gateway = leg.gateway
            obstacle.source = route.source
            return .failure(obstacle)
        }
        if let cause = link.obstacle { return blocked(cause) }
        if try isGuess(query, route) { return .failure(Verdict.Obstacle(.noRoute)) }
        if try isThrownAway(query, route, by: link, entry: entry) { return blocked(.discarded) }
        guard let source = route.source else { return blocked(.noSourceAddress) }
        if !isLocal, !(try canBeAnswered(source, query, leg, entry: entry)) { return blocked(.noSourceAddress) }
        if let cause = try underlayObstacle(of: link, query, from: source) { return blocked(cause, below: true) }
        return .success(
            Verdict.Way(
                link: link.index,
                gateway: leg.gateway,
                source: source,
                table: route.table,
                mtu: route.mtu == 0 ? link.mtu : route.mtu,
                isLocal: isLocal
            )
        )
    }

    /// Whether no table has this route: IPv4 takes for a neighbour whatever no route leads to from the link that was asked for.
    /// Nobody answers there, but a link without neighbours takes packets further.
    private mutating func isGuess(_ query: RouteQuery, _ route: Route) throws(NetlinkError) -> Bool {
        guard let bound = query.outputInterface, query.destination.family == .ipv4, !query.destination.isLinkLocal,
            route.kind == .unicast, route.table == nil
        else { return false }
        return try links.link(index: bound)?.asksForNeighbours ?? false
    }

    /// Whether an answer can come back to `source`. A link-local source is good on its link only, for routers do not forward
    /// it (RFC 3927, RFC 4291); a neighbour answers it.
    private mutating func canBeAnswered(
        _ source: WireAddress,
        _ query: RouteQuery,
        _ leg: NextHop,
        entry: Route?
    ) throws(NetlinkError) -> Bool {
        let destination = query.destination
        if source.isUnspecified || source.isLoopback { return destination.isLoopback }
        guard source.isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
        if let gateway = leg.gateway { return gateway == destination }
        // Not a neighbour only because a default route leads to the link: a prefix must say so.
        if let entry { return entry.prefixLength > 0 }
        var query = query
        query.wantsEntry = true
        guard case .success(let entry)? = try links.routes([query]).first else { return false }
        return entry.prefixLength > 0
    }
}
