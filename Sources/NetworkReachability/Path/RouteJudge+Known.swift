import Netlink

extension RouteJudge {
    /// As `answers(to:)`, with one lookup instead of two where the known way is still taken.
    ///
    /// Only for looks after which nothing else can have changed than links: then no other source address can have come to be
    /// chosen for the same way.
    mutating func answers(to queries: [RouteQuery], knowing known: [KnownWay?]) throws(NetlinkError) -> [Answer] {
        var answers = [Answer?](repeating: nil, count: queries.count)
        let indices = queries.indices.filter { known[$0] != nil }
        if !indices.isEmpty {
            let questions = indices.map { index in
                var query = queries[index]
                if query.destination.family == .ipv4 { query.source = known[index]?.source }
                return query
            }
            for (index, answer) in zip(indices, try links.routes(questions, expecting: expectedLinks)) {
                guard case .success(var route) = answer, known[index]?.isConfirmed(by: route) ?? false else { continue }
                route.source = known[index]?.source
                answers[index] = Answer(first: .success(route))
            }
        }
        let open = queries.indices.filter { answers[$0] == nil }
        if !open.isEmpty {
            for (index, answer) in zip(open, try self.answers(to: open.map { queries[$0] })) { answers[index] = answer }
        }
        return answers.compactMap(\.self)
    }
}
