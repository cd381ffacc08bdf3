import LinuxPrimitives
import Netlink

/// A route with several next hops is good if one of them is; a lookup may have picked a dead one.
extension Judge {
    mutating func otherEgress(
        _ query: RouteQuery,
        _ route: Route,
        _ check: AddressCheck,
        not failed: UInt32?
    ) throws(MissingAnswers) -> Result<Verdict.Egress, Verdict.Obstacle>? {
        guard route.kind == .unicast, query.outputInterface == nil else { return nil }
        for hop in try nextHops(query) where hop.interface != failed {
            guard let link = try answers.link(hop.interface), link.obstacle == nil else { continue }
            // Only now is the interface certain to have a route, so that the answer for IPv4 can be believed.
            var question = RouteQuery(
                destination: query.destination,
                source: check.constraints.source?.wire,
                outputInterface: hop.interface,
                mark: query.mark
            )
            guard case .success(var answer) = try answers.route(question) else { continue }
            answer.source = question.source ?? answer.source
            if query.destination.family == .ipv4 {
                // Packets with this hop's source must be allowed to take it.
                question.outputInterface = nil
                question.source = answer.source
                guard try nextHops(question).contains(hop) else { continue }
            }
            answer.nextHops = [hop]
            answer.table = route.table
            let egress = try egress(query, answer)
            if case .success = egress { return egress }
        }
        return nil
    }

    /// Every next hop of the entry that a packet would go by.
    private mutating func nextHops(_ query: RouteQuery) throws(MissingAnswers) -> [NextHop] {
        guard let entry = try answers.entry(query) else { return [] }
        if entry.nextHops.count > 1 || entry.nextHopID == 0 { return entry.nextHops }
        return try nextHops(ofObject: entry.nextHopID)
    }

    private mutating func nextHops(
        ofObject number: UInt32,
        depth: Int = 0
    ) throws(MissingAnswers) -> [NextHop] {
        guard depth < 3, let object = try answers.answer(to: .nextHopObject(number)).nextHopObject else { return [] }
        if let hop = object.nextHop { return [hop] }
        var hops: [NextHop] = []
        for member in object.members { hops += try nextHops(ofObject: member, depth: depth + 1) }
        return hops
    }
}
