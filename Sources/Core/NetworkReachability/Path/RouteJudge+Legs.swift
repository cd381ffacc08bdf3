import LinuxPrimitives
import Netlink

extension RouteJudge {
    /// A route with several legs is good if one of them is; the lookup may have picked a dead one.
    mutating func otherLeg(
        _ query: RouteQuery,
        _ route: Route,
        _ entry: Route?,
        not failed: UInt32?
    ) throws(NetlinkError) -> Result<Verdict.Way, Verdict.Obstacle>? {
        guard route.kind == .unicast, query.outputInterface == nil else { return nil }
        for leg in try legs(query, entry) where leg.interface != failed {
            guard let link = try links.state(index: leg.interface), link.obstacle == nil else { continue }
            // Only now is the interface certain to have a route, so that the answer for IPv4 can be believed.
            var question = RouteQuery(
                destination: query.destination,
                outputInterface: leg.interface,
                mark: query.mark
            )
            guard case .success(var answer)? = try links.routes([question]).first else { continue }
            if query.destination.family == .ipv4 {
                // Packets with this leg's source must be allowed to take it.
                question.outputInterface = nil
                question.source = answer.source
                guard try legs(question).contains(leg) else { continue }
            }
            answer.nextHop = leg
            answer.table = route.table
            let way = try way(query, answer, entry: nil)
            if case .success = way { return way }
        }
        return nil
    }

    /// Every leg of the routing entry that a packet would take.
    ///
    /// - Parameter known: that entry, where it was asked for already.
    private mutating func legs(_ query: RouteQuery, _ known: Route? = nil) throws(NetlinkError) -> [NextHop] {
        var entry = known
        if entry == nil {
            var query = query
            query.wantsEntry = true
            if case .success(let answer)? = try links.routes([query]).first { entry = answer }
        }
        guard let entry else { return [] }
        if entry.hasOtherLegs { return try kernel.legs(of: query) }
        if entry.nextHopID != 0 { return try legs(ofNextHop: entry.nextHopID) }
        return entry.nextHop.map { [$0] } ?? []
    }

    private func legs(ofNextHop id: UInt32, depth: Int = 0) throws(NetlinkError) -> [NextHop] {
        guard depth < 3, let object = try kernel.nextHop(id: id) else { return [] }
        if let leg = object.leg { return [leg] }
        var legs: [NextHop] = []
        for member in object.members { legs += try self.legs(ofNextHop: member, depth: depth + 1) }
        return legs
    }
}
