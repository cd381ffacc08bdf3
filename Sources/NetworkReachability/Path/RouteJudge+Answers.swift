import Netlink

extension RouteJudge {
    /// What the kernel says of one address: the way, and what that leaves open.
    struct Answer {
        var first: Result<Route, SystemError>
        /// Nil where nothing is left open.
        var second: Result<Route, SystemError>?
    }

    /// Notifications can come before the state they announce, but not before the answer of a link that was asked for first.
    /// So the links that packets left through last are asked for, or the loopback link.
    var expectedLinks: [UInt32] { expectation.links.isEmpty ? [1] : expectation.links }

    /// Asks everything in one round where the expected answers come, after a barrier.
    mutating func answers(to queries: [RouteQuery]) throws(NetlinkError) -> [Answer] {
        let guesses = queries.map(expectedSecond)
        let found = try links.routes(
            queries + guesses.compactMap(\.self),
            expecting: expectedLinks
        )
        var answers = found.prefix(queries.count).map { Answer(first: $0) }
        var guessed = found.dropFirst(queries.count)
        var open: [(index: Int, query: RouteQuery)] = []
        for index in answers.indices {
            let guess = guesses[index]
            let answer = guess == nil ? nil : guessed.popFirst()
            guard case .success(let route) = answers[index].first else { continue }
            guard let query = second(queries[index], after: route) else { continue }
            if query == guess { answers[index].second = answer } else { open.append((index, query)) }
        }
        if open.isEmpty { return answers }
        for (question, answer) in zip(open, try links.routes(open.map(\.query))) {
            answers[question.index].second = answer
        }
        return answers
    }

    /// What the first answer leaves open. An IPv4 socket repeats its lookup with the source it got, so rules on the source
    /// decide; an IPv6 route may expire, which only its entry tells. Local ways have neither question.
    private func second(_ query: RouteQuery, after route: Route) -> RouteQuery? {
        guard route.kind != .local else { return nil }
        return second(query, source: route.source)
    }

    private func expectedSecond(_ query: RouteQuery) -> RouteQuery? {
        if query.destination.isLoopback { return nil }
        if query.destination.family == .ipv6, !expectation.leadsOverIPv6 { return nil }
        return second(query, source: expectation.source)
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
