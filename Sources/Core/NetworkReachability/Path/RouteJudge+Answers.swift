import LinuxPrimitives
import Netlink

extension RouteJudge {
    /// Notifications can come before the state they announce, but not before the answer of a link that was asked for first.
    /// So the links that packets left through last are asked for, or the loopback link.
    var expectedLinks: [UInt32] { expectation.links.isEmpty ? [1] : expectation.links }

    /// Asks everything in one round where the expected answers come, after a barrier. Inquiries are told which answers are
    /// theirs.
    mutating func answers(to inquiries: inout [Inquiry]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        var queries: [RouteQuery] = []
        queries.reserveCapacity(inquiries.count * 2)
        for index in inquiries.indices {
            guard let query = inquiries[index].query else { continue }
            inquiries[index].first = queries.count
            queries.append(query)
        }
        for index in inquiries.indices {
            guard let query = inquiries[index].query, let guess = expectedSecond(query) else { continue }
            inquiries[index].second = queries.count
            queries.append(guess)
        }
        var answers = try links.routes(queries, expecting: expectedLinks)
        var open: [RouteQuery] = []
        for index in inquiries.indices {
            guard let query = inquiries[index].query, let first = inquiries[index].first else { continue }
            guard let wanted = second(query, after: answers[first]) else {
                inquiries[index].second = nil
                continue
            }
            // All that a guess can be wrong about.
            if let guess = inquiries[index].second, queries[guess].source == wanted.source { continue }
            inquiries[index].second = answers.count + open.count
            open.append(wanted)
        }
        if !open.isEmpty { answers += try links.routes(open) }
        try askForEntries(of: &inquiries, &answers)
        return answers
    }

    /// Where an IPv4 way leads over a dead link, another leg of its route may not; all entries are asked for in one round.
    private mutating func askForEntries(
        of inquiries: inout [Inquiry],
        _ answers: inout [Result<Route, SystemError>]
    ) throws(NetlinkError) {
        var entries: [RouteQuery] = []
        for index in inquiries.indices {
            guard var query = inquiries[index].query, query.destination.family == .ipv4, query.outputInterface == nil,
                let first = inquiries[index].first, case .success(let unbound) = answers[first],
                let second = inquiries[index].second, case .success(let route) = answers[second],
                route.kind == .unicast, let leg = route.nextHop,
                let obstacle = try links.state(index: leg.interface)?.obstacle, obstacle.isOfOneLeg
            else { continue }
            query.source = unbound.source
            query.wantsEntry = true
            inquiries[index].entry = answers.count + entries.count
            entries.append(query)
        }
        if !entries.isEmpty { answers += try links.routes(entries) }
    }

    /// What the first answer leaves open. An IPv4 socket repeats its lookup with the source it got, so rules on the source
    /// decide, and so does the choice among several legs; an IPv6 route may expire, which only its entry tells. Local ways
    /// have neither question.
    private func second(_ query: RouteQuery, after answer: Result<Route, SystemError>) -> RouteQuery? {
        guard case .success(let route) = answer, route.kind != .local else { return nil }
        return second(query, source: route.source)
    }

    private func expectedSecond(_ query: RouteQuery) -> RouteQuery? {
        if query.destination.isLoopback { return nil }
        if query.destination.family == .ipv6, !expectation.leadsOverIPv6 { return nil }
        return second(query, source: expectation.expectedSource)
    }

    private func second(_ query: RouteQuery, source: WireAddress?) -> RouteQuery? {
        var query = query
        switch query.destination.family {
        case .ipv4:
            guard let source else { return nil }
            query.source = source
        case .ipv6:
            query.wantsEntry = true
        }
        return query
    }
}
