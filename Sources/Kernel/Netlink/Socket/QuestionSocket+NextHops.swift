import CLinux

/// Over which of several legs packets may go.
extension QuestionSocket {
    /// Every leg of the routing entry behind a way; none where there is no such entry, or it names a next hop object alone.
    mutating func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] {
        var query = query
        query.wantsEntry = true
        var request = RequestBuilder()
        request.append(query, sequence: nextSequence())
        var legs: [NextHop] = []
        try exchange(request, count: 1) { if case .success(let body) = $1 { legs = Route.legs(body: body) } }
        return legs
    }

    /// Asks for a next hop object; nil when there is none.
    mutating func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        var request = RequestBuilder()
        request.begin(.getNextHop, sequence: nextSequence())
        request.append(nhmsg())
        request.append(attribute: Int(NHA_ID), id)
        return try answer(to: request, as: NextHopObject.init(body:))
    }
}
