import Netlink

/// Decides, for single addresses, whether packets would get through. Every line of it was needed by a real case.
///
/// The kernel is the state: nothing is remembered from one evaluation to the next.
struct RouteJudge {
    private let kernel: any KernelConnection
    private let mark: UInt32
    /// How many tunnels lead to the addresses asked about.
    private let depth: Int
    /// The links that ways are likely to lead over, asked for in the same round as the ways.
    private let expected: [UInt32]
    var links: LinkTable

    private static let tunnelLimit = 3

    init(
        kernel: any KernelConnection, mark: UInt32, links: LinkTable, expected: [UInt32] = [], depth: Int = 0
    ) {
        self.expected = expected
        self.kernel = kernel
        self.mark = mark
        self.links = links
        self.depth = depth
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
    private func secondAnswers(
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
        for (index, answer) in zip(indices, try kernel.routes(questions)) { second[index] = answer }
        return second
    }

    private mutating func way(
        _ query: RouteQuery,
        _ first: Route,
        _ second: Result<Route, SystemError>?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        var route = first
        if query.destination.family == .ipv4, let second {
            switch second {
            case .success(let answer): route = answer
            case .failure(let error): return .failure(Verdict.Obstacle(error))
            }
        }
        route.source = first.source
        let isOnLink: Bool
        if case .success(let entry) = second, query.destination.family == .ipv6 {
            isOnLink = entry.prefixLength > 0 && entry.nextHops.allSatisfy { $0.gateway == nil }
        } else {
            isOnLink = false
        }
        let direct = try way(query, route, isOnLink: isOnLink)
        if case .failure(let obstacle) = direct, [.noCarrier, .linkDown, .noInterface].contains(obstacle.reason) {
            return try otherLeg(query, route, not: route.nextHops.first?.interface) ?? direct
        }
        return direct
    }

    private mutating func way(
        _ query: RouteQuery,
        _ route: Route,
        isOnLink: Bool
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle> {
        guard Self.carrying.contains(route.kind) else { return .failure(Verdict.Obstacle(.refused)) }
        guard let leg = route.nextHops.first, let link = try links.link(index: leg.interface) else {
            return .failure(Verdict.Obstacle(.noInterface))
        }
        let isLocal = route.kind == .local
        func blocked(_ reason: NetworkPath.UnsatisfiedReason) -> Result<Verdict.Way, Verdict.Obstacle> {
            var obstacle = Verdict.Obstacle(reason, link: link)
            obstacle.gateway = leg.gateway
            obstacle.source = route.source
            return .failure(obstacle)
        }
        if let reason = link.obstacle { return blocked(reason) }
        guard let source = route.source, isLocal || source.canAnswer(from: query.destination, isOnLink: isOnLink) else {
            return blocked(.noSourceAddress)
        }
        if let reason = try carrierObstacle(of: link) { return blocked(reason) }
        return .success(
            Verdict.Way(
                link: link,
                gateway: leg.gateway,
                source: source,
                table: route.table,
                mtu: route.mtu == 0 ? link.mtu : route.mtu,
                isLocal: isLocal
            )
        )
    }

    private static let carrying: [RouteKind] = [.unicast, .local, .broadcast, .anycast, .multicast]

    /// A route with several legs is good if one of them is; the lookup may have picked a dead one.
    private mutating func otherLeg(
        _ query: RouteQuery,
        _ route: Route,
        not failed: UInt32?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle>? {
        guard route.kind == .unicast, query.outputInterface == nil else { return nil }
        var query = query
        query.wantsEntry = true
        guard case .success(let entry)? = try kernel.routes([query]).first else { return nil }
        var legs = entry.nextHops
        if entry.nextHopID != 0, legs.count <= 1 { legs = try self.legs(ofNextHop: entry.nextHopID) }
        query.wantsEntry = false
        for leg in legs where leg.interface != failed {
            guard let link = try links.link(index: leg.interface), link.obstacle == nil else { continue }
            // Only now is the interface certain to have a route, so that the answer for IPv4 can be believed.
            query.outputInterface = leg.interface
            guard case .success(var answer)? = try kernel.routes([query]).first else { continue }
            answer.nextHops = [leg]
            answer.table = route.table
            let way = try way(query, answer, isOnLink: false)
            if case .success = way { return way }
        }
        return nil
    }

    private func legs(ofNextHop id: UInt32, depth: Int = 0) throws(NetlinkError) -> [NextHop] {
        guard depth < 3, let object = try kernel.nextHop(id: id) else { return [] }
        if let leg = object.leg { return [leg] }
        var legs: [NextHop] = []
        for member in object.members { legs += try self.legs(ofNextHop: member, depth: depth + 1) }
        return legs
    }

    /// A tunnel keeps its carrier when what it runs over is gone; where it names its other end, that end is judged too.
    private mutating func carrierObstacle(
        of link: Link
    ) throws(NetlinkError) -> NetworkPath.UnsatisfiedReason? {
        guard !link.lowerIsElsewhere, depth < Self.tunnelLimit else { return nil }
        if let remote = link.tunnelRemote {
            var judge = RouteJudge(kernel: kernel, mark: 0, links: links, depth: depth + 1)
            defer { links = judge.links }
            if case .failure(let obstacle)? = try judge.judge([IPAddress(remote)]).first?.outcome {
                return obstacle.reason
            }
        }
        if link.kind == "vxlan", let lower = link.lowerIndex { return try links.link(index: lower)?.obstacle }
        return nil
    }
}

extension WireAddress {
    /// Whether an answer from `destination` can come back to this source. A link-local source is good on its link only:
    /// routers do not forward it (RFC 3927, RFC 4291), but an IPv6 neighbour answers it.
    func canAnswer(from destination: WireAddress, isOnLink: Bool) -> Bool {
        if isUnspecified || isLoopback { return destination.isLoopback }
        guard isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
        return family == .ipv6 && isOnLink
    }
}
