import Glibc
import LinuxPrimitives
import Netlink

/// The same evaluation, with everything kept that explains it. It asks more than a mere look and is not made to be fast.
extension PathEvaluator {
    /// The path that `evaluate` would find, and all verdicts behind it.
    struct Explanation {
        var evaluation: Evaluation
        var candidates: [NetworkEvidence.Candidate]
        var tallies: [NetworkEvidence.Tally]
        /// The verdict on the address that decided.
        var deciding: Verdict?

        /// Whether both come to the same, so that nothing has changed between them.
        func agrees(with other: Explanation) -> Bool {
            evaluation.path.isSame(as: other.evaluation.path) && candidates == other.candidates
        }
    }

    /// Judges every address of a poll, also those whose vote is not needed.
    mutating func explain(_ poll: Poll) throws(NetlinkError) -> Explanation {
        var poll = poll
        var inquiries = poll.everybody
        let all = try judge(&inquiries)
        let verdicts = Dictionary(all.map { ($0.destination, $0) }) { first, _ in first }
        poll.decide(by: verdicts)
        let evaluation = try evaluation(of: poll.result)
        let decisive = evaluation.path.destination
        var candidates: [NetworkEvidence.Candidate] = []
        for verdict in all {
            var reason: NetworkPath.UnsatisfiedReason?
            if case .failure(let obstacle) = verdict.outcome { reason = try explained(obstacle).reason }
            let isDeciding = verdict.destination == decisive
            candidates.append(.init(address: verdict.destination, reason: reason, isDeciding: isDeciding))
        }
        return Explanation(
            evaluation: evaluation,
            candidates: candidates,
            tallies: poll.tallies(by: verdicts),
            deciding: decisive.flatMap { verdicts[$0] }
        )
    }

    /// Adds what the kernel says of the way to the address that decided.
    mutating func gather(
        _ deciding: Verdict,
        _ inquiry: Inquiry,
        into facts: inout EvidenceFacts
    ) throws(NetlinkError) {
        var index: UInt32?
        switch deciding.outcome {
        case .success(let way):
            index = way.link
            facts.source = way.source
        case .failure(let obstacle):
            let explained = try explained(obstacle)
            facts.obstacle = explained
            facts.isExplainedByLinks = explained.cause != obstacle.cause
            facts.source = obstacle.source
            index = explained.link
        }
        let address = deciding.destination
        var query = RouteQuery(destination: address.wire, mark: inquiry.mark)
        if let zone = inquiry.zone {
            guard let link = try links.link(zone: zone) else {
                facts.missingZone = zone
                return
            }
            query.outputInterface = link.index
        }
        if facts.isLoopbackDown {
            facts.isExplainedByLinks = true
        } else {
            try gatherRoute(&query, zone: inquiry.zone, into: &facts)
        }
        try gatherLinks(index, into: &facts)
        if address.isIPv6, facts.obstacle?.cause == .noSourceAddress, let index, let link = try links.link(index: index)
        {
            facts.ipv6Trouble = try ipv6Trouble(of: link)
        }
        guard let index, let link = try links.link(index: index), link.obstacle == nil else { return }
        gatherNeighbour(address.wire, deciding, on: link, into: &facts)
    }

    /// The servers that names are asked of, with what becomes of packets to each.
    mutating func resolver(_ inquiry: EvidenceInquiry) throws(NetlinkError) -> NetworkEvidence.Resolver? {
        guard let configuration = inquiry.configuration else { return nil }
        var servers: [NetworkEvidence.Resolver.Server] = []
        if configuration.asksServers, !inquiry.isInHostsFile {
            var inquiries = configuration.servers.map { Inquiry($0, mark: 0) }
            for verdict in try judge(&inquiries) {
                var server = NetworkEvidence.Resolver.Server(address: verdict.destination)
                server.answer = inquiry.answers[verdict.destination]?.description
                switch verdict.outcome {
                case .success(let way): server.interface = try links.link(index: way.link)?.name
                case .failure(let obstacle):
                    let explained = try explained(obstacle)
                    server.reason = explained.reason
                    server.interface = try explained.link.flatMap { index throws(NetlinkError) in
                        try links.link(index: index)?.name
                    }
                }
                servers.append(server)
            }
        }
        return NetworkEvidence.Resolver(
            sources: configuration.sources,
            isInHostsFile: inquiry.isInHostsFile,
            file: configuration.file,
            stub: configuration.asksServers ? configuration.stub : nil,
            servers: servers
        )
    }

    /// The links, where they are all there is to say.
    mutating func gatherLinks(into facts: inout EvidenceFacts) throws(NetlinkError) {
        let obstacle = try explained(Verdict.Obstacle(.noRoute))
        facts.obstacle = obstacle
        facts.isExplainedByLinks = obstacle.cause != .noRoute
        try gatherLinks(obstacle.link, into: &facts)
    }

    /// The last lookup that decides is one with a source for IPv4, so that is the one whose entry and rule are told.
    private mutating func gatherRoute(
        _ query: inout RouteQuery,
        zone: String?,
        into facts: inout EvidenceFacts
    ) throws(NetlinkError) {
        let family = query.destination.family
        var answer = try links.routes([query]).first ?? .failure(.badMessage)
        if family == .ipv4, case .success(let route) = answer, route.kind != .local {
            query.source = facts.source ?? route.source
            if facts.source == nil { facts.source = route.source }
            if query.source != nil { answer = try links.routes([query]).first ?? answer }
        }
        let boundTo = try query.outputInterface.flatMap { index throws(NetlinkError) in try links.link(index: index) }
        let walk = RuleWalk(rules: try kernel.rules(family), query: query, boundTo: boundTo?.name, user: getuid())
        facts.tables = walk.tables
        switch answer {
        case .failure(let error): try gatherRefusal(error, walk, into: &facts)
        case .success(let route):
            if facts.source == nil { facts.source = route.source }
            query.wantsEntry = true
            let entry = try? links.routes([query]).first?.get()
            facts.rule = walk.rule(answering: route, entry).map { NetworkEvidence.Rule($0) }
            let legs = entry?.hasOtherLegs == true ? try kernel.legs(of: query) : nil
            facts.route = try description(of: route, entry, legs, to: query.destination)
        }
    }

    private mutating func description(
        of route: Netlink.Route,
        _ entry: Netlink.Route?,
        _ severalLegs: [NextHop]?,
        to destination: WireAddress
    ) throws(NetlinkError) -> NetworkEvidence.Route {
        var legs: [NetworkEvidence.Route.Leg] = []
        for hop in severalLegs ?? [(entry ?? route).nextHop].compactMap(\.self) {
            let link = try links.link(index: hop.interface)
            legs.append(.init(interface: link?.name, gateway: hop.gateway.map { IPAddress($0) }))
        }
        let object = entry?.nextHopID ?? route.nextHopID
        return NetworkEvidence.Route(
            type: route.kind.word,
            prefix: entry.map { "\(AddressPrefix(destination, length: Int($0.prefixLength)))" },
            table: route.table,
            metric: entry?.metric ?? route.metric,
            nextHopObject: object == 0 ? nil : object,
            legs: legs,
            lifetime: entry?.lifetime
        )
    }

    /// The link that packets leave through and those below it or, where links in general are the reason, all of them.
    private mutating func gatherLinks(_ index: UInt32?, into facts: inout EvidenceFacts) throws(NetlinkError) {
        guard let index else {
            guard facts.isExplainedByLinks || facts.obstacle?.cause == .noInterface else { return }
            for link in try links.links() where !link.isLoopback { facts.links.append(entry(for: link)) }
            return
        }
        guard let link = try links.link(index: index) else { return }
        let first = entry(for: link)
        facts.links = [first]
        for lower in first.interface.underlying {
            guard let link = try links.link(index: lower.index) else { continue }
            facts.links.append(NetworkEvidence.Link(lower, link))
        }
    }

    private mutating func entry(for link: Netlink.Link) -> NetworkEvidence.Link {
        NetworkEvidence.Link(interfaces.entry(for: link, kernel: kernel).interface, link)
    }

    private func gatherNeighbour(
        _ destination: WireAddress,
        _ deciding: Verdict,
        on link: Netlink.Link,
        into facts: inout EvidenceFacts
    ) {
        let gateway =
            switch deciding.outcome {
            case .success(let way): way.gateway
            case .failure(let obstacle): obstacle.gateway
            }
        guard facts.route?.type == "unicast", link.asksForNeighbours else { return }
        facts.needsNeighbour = true
        let address = gateway ?? destination
        do throws(NetlinkError) {
            let answer = try kernel.neighbour(address, on: link.index)
            facts.neighbour = NetworkEvidence.Neighbour(address, on: link, answer, isGateway: gateway != nil)
        } catch {
            // Kernels before 5.0 do not answer this; the chain does without.
        }
    }
}
