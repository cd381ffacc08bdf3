package import LinuxPrimitives

/// The socket that asks, with answers from elsewhere: requests are written and answers decoded as ever.
package final class PlayedSocket: Sendable {
    private let questions: Locked<QuestionSocket>

    package init(_ answers: any NetlinkAnswers) throws(NetlinkError) {
        questions = Locked(try QuestionSocket(answers: answers))
    }

    package func link(index: UInt32) throws(NetlinkError) -> Link? {
        try questions.withLock { socket throws(NetlinkError) in try socket.link(index: index) }
    }

    package func link(named name: String) throws(NetlinkError) -> Link? {
        try questions.withLock { socket throws(NetlinkError) in try socket.link(named: name) }
    }

    package func links() throws(NetlinkError) -> [Link] {
        try questions.withLock { socket throws(NetlinkError) in try socket.links() }
    }

    package func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        try questions.withLock { socket throws(NetlinkError) in try socket.routes(queries, after: links) }
    }

    package func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try questions.withLock { socket throws(NetlinkError) in try socket.addresses() }
    }

    package func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try questions.withLock { socket throws(NetlinkError) in try socket.rules(family) }
    }

    package func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try questions.withLock { socket throws(NetlinkError) in try socket.neighbour(address, on: link) }
    }

    /// Every leg of the routing entry behind a way.
    package func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] {
        try questions.withLock { socket throws(NetlinkError) in try socket.legs(of: query) }
    }

    package func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        try questions.withLock { socket throws(NetlinkError) in try socket.nextHop(id: id) }
    }
}
