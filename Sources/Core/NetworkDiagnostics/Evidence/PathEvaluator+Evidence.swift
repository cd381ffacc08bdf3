import Glibc
import LinuxSupport
import Netlink
import NetworkReachability

/// An evaluation that keeps all intermediate results. It sends more queries than a normal evaluation and is not
/// optimized for speed.
extension PathEvaluator {
    /// A path with all verdicts that determine it.
    struct Explanation {
        var path: NetworkPath
        var candidates: [NetworkEvidence.Candidate]
        var quorums: [NetworkEvidence.Quorum]
        /// The verdict on the address that determines the path.
        var deciding: Verdict?

        /// Returns whether two explanations have the same result, which shows that nothing changed between them.
        func agrees(with other: Explanation) -> Bool {
            path.isSame(as: other.path) && candidates == other.candidates
        }
    }

    /// Judges every address of a target, including those that are not needed for a quorum.
    mutating func explain(_ subject: EvaluationSubject) throws(MissingAnswers) -> Explanation {
        var judged = subject
        // For a name without addresses: the servers that may know it.
        if case .unnamed(_, let servers) = subject.kind { judged = EvaluationSubject(.any(servers ?? [])) }
        let all = try verdicts(on: judged.addresses.map(judged.check))
        let verdicts = Dictionary(all.map { ($0.destination, $0) }) { first, _ in first }
        let evaluation = try evaluate(judged)
        let decisive = evaluation.path.destination
        var candidates: [NetworkEvidence.Candidate] = []
        try MissingAnswers.forEach(all) { verdict throws(MissingAnswers) in
            var reason: NetworkPath.UnsatisfiedReason?
            if case .failure(let obstacle) = verdict.outcome { reason = try explained(obstacle).reason }
            let isDeciding = verdict.destination == decisive
            candidates.append(.init(address: verdict.destination, reason: reason, isDeciding: isDeciding))
        }
        return Explanation(
            path: try evaluate(subject).path,
            candidates: candidates,
            quorums: judged.quorums(by: verdicts),
            deciding: decisive.flatMap { verdicts[$0] }
        )
    }

    /// Adds the kernel's information about the route to the address that determines the path.
    mutating func gather(
        _ deciding: Verdict,
        _ check: AddressCheck,
        into facts: inout EvidenceFacts
    ) throws(MissingAnswers) {
        var index: UInt32?
        switch deciding.outcome {
        case .success(let egress):
            index = egress.link
            facts.source = egress.source
        case .failure(let obstacle):
            let explained = try explained(obstacle)
            facts.obstacle = explained
            facts.isExplainedByLinks = explained.cause != obstacle.cause
            facts.source = obstacle.source
            index = explained.link
        }
        let address = deciding.destination
        var query = RouteQuery(destination: address.wire, mark: check.constraints.mark)
        if let zone = check.zone {
            guard let link = try answers.link(zone: zone) else {
                facts.missingZone = zone
                return
            }
            query.outputInterface = link.index
        }
        // A source address that no socket can be bound to does not select routes.
        if facts.obstacle?.cause != .noSourceAddress { query.source = check.constraints.source?.wire }
        if facts.isLoopbackDown {
            facts.isExplainedByLinks = true
        } else {
            try gatherRoute(&query, zone: check.zone, into: &facts)
        }
        try gatherLinks(index, to: address.wire, into: &facts)
        if address.isIPv6, facts.obstacle?.cause == .noSourceAddress, let index, let link = try answers.link(index) {
            facts.ipv6Obstacle = try ipv6Obstacle(of: link)
        }
        guard let index, let link = try answers.link(index), link.obstacle == nil else { return }
        try gatherNeighbour(address.wire, deciding, on: link, into: &facts)
    }

    /// Returns the configured name servers, with the verdict on packets to each.
    mutating func resolver(_ request: EvidenceRequest) throws(MissingAnswers) -> NetworkEvidence.Resolver? {
        guard let configuration = request.configuration else { return nil }
        var servers: [NetworkEvidence.Resolver.Server] = []
        if configuration.asksServers, !request.isInHostsFile {
            for verdict in try verdicts(on: configuration.servers.map { AddressCheck($0) }) {
                var server = NetworkEvidence.Resolver.Server(address: verdict.destination)
                server.answer = request.answers[verdict.destination]?.description
                switch verdict.outcome {
                case .success(let egress): server.interface = try answers.link(egress.link)?.name
                case .failure(let obstacle):
                    let explained = try explained(obstacle)
                    server.reason = explained.reason
                    server.interface = try explained.link.flatMap { index throws(MissingAnswers) in
                        try answers.link(index)?.name
                    }
                }
                servers.append(server)
            }
        }
        return NetworkEvidence.Resolver(
            sources: configuration.sources,
            isInHostsFile: request.isInHostsFile,
            file: configuration.file,
            stub: configuration.asksServers ? configuration.stub : nil,
            servers: servers
        )
    }

    /// Adds the links, if there is no address to explain.
    mutating func gatherLinks(into facts: inout EvidenceFacts) throws(MissingAnswers) {
        let obstacle = try explained(Verdict.Obstacle(.noRoute))
        facts.obstacle = obstacle
        facts.isExplainedByLinks = obstacle.cause != .noRoute
        try gatherLinks(obstacle.link, to: nil, into: &facts)
    }

    /// Adds the rule and the route. For IPv4 the lookup with the source address decides, so its entry and rule are
    /// shown.
    private mutating func gatherRoute(
        _ query: inout RouteQuery,
        zone: String?,
        into facts: inout EvidenceFacts
    ) throws(MissingAnswers) {
        let family = query.destination.family
        var answer = try answers.route(query)
        if family == .ipv4, case .success(let route) = answer, route.kind != .local {
            query.source = query.source ?? facts.source ?? route.source
            if facts.source == nil { facts.source = route.source }
            if query.source != nil { answer = try answers.route(query) }
        }
        var boundTo: Netlink.Link?
        if let index = query.outputInterface { boundTo = try answers.link(index) }
        let walk = RuleWalk(
            rules: try answers.answer(to: .rules(family)).rules,
            query: query,
            boundTo: boundTo?.name,
            user: getuid()
        )
        facts.tables = walk.tables
        switch answer {
        case .failure(let error): try gatherRefusal(error, walk, into: &facts)
        case .success(let route):
            if facts.source == nil { facts.source = route.source }
            let entry = try answers.entry(query)
            facts.rule = walk.rule(answering: route, entry).map { NetworkEvidence.Rule($0) }
            let prefix = entry.map { AddressPrefix(query.destination, length: Int($0.prefixLength)) }
            facts.route = try description(of: route, entry ?? route, prefix)
        }
    }

    /// Returns the description of a route.
    ///
    /// - Parameters:
    ///   - entry: The route as it is in its table; `route` itself if no table contains it.
    ///   - prefix: The destination of the entry.
    mutating func description(
        of route: Netlink.Route,
        _ entry: Netlink.Route,
        _ prefix: AddressPrefix?
    ) throws(MissingAnswers) -> NetworkEvidence.Route {
        var hops: [NetworkEvidence.Route.NextHop] = []
        for hop in entry.nextHops {
            let link = try answers.link(hop.interface)
            hops.append(.init(interface: link?.name, gateway: hop.gateway.map { IPAddress($0) }))
        }
        return NetworkEvidence.Route(
            type: route.kind.word,
            prefix: prefix?.description,
            table: route.table,
            metric: entry.metric,
            nextHopObject: entry.nextHopID == 0 ? nil : entry.nextHopID,
            nextHops: hops,
            lifetime: prefix == nil ? nil : entry.lifetime
        )
    }

    /// Adds the outgoing link and its lower links. If the links in general are the reason, adds all of them.
    private mutating func gatherLinks(
        _ index: UInt32?,
        to destination: WireAddress?,
        into facts: inout EvidenceFacts
    ) throws(MissingAnswers) {
        guard let index else {
            guard facts.isExplainedByLinks || facts.obstacle?.cause == .noInterface else { return }
            for link in try answers.links() where !link.isLoopback { facts.links.append(try entry(for: link)) }
            return
        }
        guard let link = try answers.link(index) else { return }
        let first = try entry(for: link)
        facts.links = [first]
        for lower in first.interface.underlying {
            guard let link = try answers.link(lower.index) else { continue }
            facts.links.append(NetworkEvidence.Link(lower, link))
        }
        guard let destination else { return }
        for index in facts.links.indices {
            guard let link = try answers.link(facts.links[index].interface.index), link.isTunnel else { continue }
            let ends = try farEnds(of: link, for: destination)
            facts.links[index].hidesFarEnd = ends == nil
            if let ends, ends.count == 1 { facts.links[index].tunnelRemote = ends[0].address.map { IPAddress($0) } }
        }
    }

    private mutating func entry(for link: Netlink.Link) throws(MissingAnswers) -> NetworkEvidence.Link {
        NetworkEvidence.Link(try cache.interfaces.entry(for: link, &answers).interface, link)
    }

    private mutating func gatherNeighbour(
        _ destination: WireAddress,
        _ deciding: Verdict,
        on link: Netlink.Link,
        into facts: inout EvidenceFacts
    ) throws(MissingAnswers) {
        let gateway =
            switch deciding.outcome {
            case .success(let egress): egress.gateway
            case .failure(let obstacle): obstacle.gateway
            }
        guard facts.route?.type == "unicast", link.resolvesNeighbours else { return }
        facts.needsNeighbour = true
        let address = gateway ?? destination
        let answer = try answers.neighbour(address, on: link.index)
        facts.neighbour = NetworkEvidence.Neighbour(address, on: link, answer, isGateway: gateway != nil)
    }
}

extension EvaluationSubject {
    /// All addresses that are evaluated.
    var addresses: [IPAddress] {
        switch kind {
        case .majority(let addresses), .any(let addresses): addresses
        case .unnamed(_, let servers): servers ?? []
        }
    }

    /// Returns the quorum of each family for general reachability; empty for a host.
    fileprivate func quorums(by verdicts: [IPAddress: Verdict]) -> [NetworkEvidence.Quorum] {
        guard case .majority(let all) = kind else { return [] }
        return [false, true].compactMap { isIPv6 in
            let addresses = all.filter { $0.isIPv6 == isIPv6 }
            guard !addresses.isEmpty else { return nil }
            return NetworkEvidence.Quorum(
                isIPv6: isIPv6,
                addresses: addresses.count,
                reachable: addresses.count { verdicts[$0]?.isSatisfied ?? false },
                needed: Quorum(addresses, .majority).needed
            )
        }
    }
}
