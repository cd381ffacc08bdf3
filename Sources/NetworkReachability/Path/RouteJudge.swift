import Netlink

/// Decides, for single addresses, whether packets would get through. Every line of it was needed by a real case.
///
/// The kernel is the state: nothing is remembered from one evaluation to the next.
struct RouteJudge {
    /// Whether packets with this mark would get to this address.
    struct Question {
        var address: IPAddress
        var mark: UInt32
    }

    let kernel: any KernelConnection
    /// The tunnels that lead to the addresses asked about.
    let tunnels: [UInt32]
    let expectation: Expectation
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

    /// One verdict for each question, in the same order; one to three round trips for each 64 of them.
    mutating func judge(_ questions: [Question]) throws(NetlinkError) -> [Verdict] {
        var verdicts: [Verdict?] = []
        var open: [(index: Int, query: RouteQuery)] = []
        verdicts.reserveCapacity(questions.count)
        open.reserveCapacity(questions.count)
        for (index, question) in questions.enumerated() {
            switch try query(for: question) {
            case .success(let query):
                verdicts.append(nil)
                open.append((index, query))
            case .failure(let obstacle):
                verdicts.append(Verdict(destination: question.address, outcome: .failure(obstacle)))
            }
        }
        for (asked, answer) in zip(open, try answers(to: open.map(\.query))) {
            let outcome: Result<Verdict.Way, Verdict.Obstacle>
            switch answer.first {
            case .failure(let error): outcome = .failure(Verdict.Obstacle(error))
            case .success(let route): outcome = try way(asked.query, route, answer.second)
            }
            verdicts[asked.index] = Verdict(
                destination: questions[asked.index].address,
                outcome: outcome,
                lifetime: (try? answer.second?.get())?.lifetime
            )
        }
        return verdicts.compactMap(\.self)
    }

    private mutating func query(
        for question: Question
    ) throws(NetlinkError) -> Result<RouteQuery, Verdict.Obstacle> {
        let address = question.address
        var query = RouteQuery(destination: address.wire, mark: question.mark)
        if let zone = address.zone {
            guard let link = try links.link(zone: zone) else { return .failure(Verdict.Obstacle(.noInterface)) }
            query.outputInterface = link.index
        } else if address.isIPv6, address.isLinkLocal {
            // Without a zone the kernel picks any link with fe80::/64, which says nothing.
            return .failure(Verdict.Obstacle(.noInterface))
        }
        return .success(query)
    }

    private mutating func way(
        _ query: RouteQuery,
        _ first: Route,
        _ second: Result<Route, SystemError>?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        var query = query
        var route = first
        var entry: Route?
        switch (second, query.destination.family) {
        case (.success(let answer), .ipv4):
            route = answer
            route.source = first.source
            query.source = first.source
        case (.success(let answer), .ipv6):
            entry = answer
        case (.failure(let error), .ipv4):
            return .failure(Verdict.Obstacle(error))
        case (.failure, .ipv6), (nil, _):
            break
        }
        let direct = try way(query, route, entry: entry)
        if case .failure(let obstacle) = direct, [.noCarrier, .linkDown, .noInterface].contains(obstacle.reason) {
            return try otherLeg(query, route, not: route.firstHop?.interface) ?? direct
        }
        return direct
    }

    /// Judges the first leg of a route.
    mutating func way(
        _ query: RouteQuery,
        _ route: Route,
        entry: Route?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        guard Self.carrying.contains(route.kind) else { return .failure(Verdict.Obstacle(.refused)) }
        guard let leg = route.firstHop, let link = try links.link(index: leg.interface) else {
            return .failure(Verdict.Obstacle(.noInterface))
        }
        let isLocal = route.kind == .local
        func blocked(
            _ reason: NetworkPath.UnsatisfiedReason,
            below isBelow: Bool = false
        ) -> Result<Verdict.Way, Verdict.Obstacle> {
            var obstacle = Verdict.Obstacle(reason, link: link.index)
            obstacle.isBelow = isBelow
            obstacle.gateway = leg.gateway
            obstacle.source = route.source
            return .failure(obstacle)
        }
        if let reason = link.obstacle { return blocked(reason) }
        guard let source = route.source else { return blocked(.noSourceAddress) }
        if !isLocal, !(try canBeAnswered(source, query, leg, entry: entry)) { return blocked(.noSourceAddress) }
        if let reason = try underlayObstacle(of: link) { return blocked(reason, below: true) }
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

    private static let carrying: [RouteKind] = [.unicast, .local, .broadcast, .anycast, .multicast]

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
