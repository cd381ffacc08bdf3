import Netlink

/// Decides, for single addresses, whether packets would get through. Every line of it was needed by a real case.
///
/// The kernel is the state: nothing is remembered from one evaluation to the next.
struct RouteJudge {
    let kernel: any KernelConnection
    let mark: UInt32
    /// The tunnels that lead to the addresses asked about.
    let tunnels: [UInt32]
    /// The links that ways are likely to lead over, asked for in the same round as the ways.
    private let expected: [UInt32]
    var links: LinkTable

    init(
        kernel: any KernelConnection,
        mark: UInt32,
        links: LinkTable,
        expected: [UInt32] = [],
        tunnels: [UInt32] = []
    ) {
        self.expected = expected
        self.kernel = kernel
        self.mark = mark
        self.links = links
        self.tunnels = tunnels
    }

    /// One verdict for each address, in the same order; three round trips for any number of them.
    mutating func judge(_ addresses: [IPAddress]) throws(NetlinkError) -> [Verdict] {
        var verdicts: [Verdict?] = []
        var open: [(index: Int, query: RouteQuery)] = []
        for (index, address) in addresses.enumerated() {
            switch try query(for: address) {
            case .success(let query):
                verdicts.append(nil)
                open.append((index, query))
            case .failure(let obstacle):
                verdicts.append(Verdict(destination: address, outcome: .failure(obstacle)))
            }
        }
        let answers = try links.routes(open.map(\.query), expecting: expected)
        let second = try secondAnswers(open.map(\.query), answers)
        for (position, question) in open.enumerated() {
            var lifetime: Duration?
            let outcome: Result<Verdict.Way, Verdict.Obstacle>
            switch answers[position] {
            case .failure(let error):
                outcome = .failure(Verdict.Obstacle(error))
            case .success(let route):
                lifetime = (try? second[position]?.get())?.lifetime
                outcome = try way(question.query, route, second[position])
            }
            verdicts[question.index] = Verdict(
                destination: addresses[question.index],
                outcome: outcome,
                lifetime: lifetime
            )
        }
        return verdicts.compactMap(\.self)
    }

    private mutating func query(
        for address: IPAddress
    ) throws(NetlinkError) -> Result<RouteQuery, Verdict.Obstacle> {
        var query = RouteQuery(destination: address.wire, mark: mark)
        if let zone = address.zone {
            guard let link = try links.link(zone: zone) else { return .failure(Verdict.Obstacle(.noInterface)) }
            query.outputInterface = link.index
        } else if address.isIPv6, address.isLinkLocal {
            // Without a zone the kernel picks any link with fe80::/64, which says nothing.
            return .failure(Verdict.Obstacle(.noInterface))
        }
        return .success(query)
    }

    /// What the first answer leaves open. An IPv4 socket repeats its lookup with the source it got, so rules on the source
    /// decide; an IPv6 route may expire, which only its entry tells. Local ways have neither question.
    private mutating func secondAnswers(
        _ queries: [RouteQuery],
        _ answers: [Result<Route, SystemError>]
    ) throws(NetlinkError) -> [Result<Route, SystemError>?] {
        var second = [Result<Route, SystemError>?](repeating: nil, count: answers.count)
        var indices: [Int] = []
        var questions: [RouteQuery] = []
        for (index, answer) in answers.enumerated() {
            guard case .success(let route) = answer, route.kind != .local else { continue }
            var query = queries[index]
            switch query.destination.family {
            case .ipv4:
                guard let source = route.source else { continue }
                query.source = source
            case .ipv6:
                query.wantsEntry = true
            }
            indices.append(index)
            questions.append(query)
        }
        if questions.isEmpty { return second }
        for (index, answer) in zip(indices, try links.routes(questions)) { second[index] = answer }
        return second
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
        func blocked(_ reason: NetworkPath.UnsatisfiedReason) -> Result<Verdict.Way, Verdict.Obstacle> {
            var obstacle = Verdict.Obstacle(reason, link: link.index)
            obstacle.gateway = leg.gateway
            obstacle.source = route.source
            return .failure(obstacle)
        }
        if let reason = link.obstacle { return blocked(reason) }
        guard let source = route.source else { return blocked(.noSourceAddress) }
        if !isLocal, !(try canBeAnswered(source, query, leg, entry: entry)) { return blocked(.noSourceAddress) }
        if let reason = try underlayObstacle(of: link) { return blocked(reason) }
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
