package import LinuxPrimitives

/// The two sockets of one network namespace: one listens, one asks.
package final class RouteSockets: Sendable {
    package let events: EventSocket
    private let questions: Locked<QuestionSocket>
    private let hardware: HardwareProbe

    /// Opens both in the calling thread's network namespace.
    ///
    /// - Parameter tap: hears what passes both.
    package init(tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        events = try EventSocket(tap: tap)
        questions = Locked(try QuestionSocket(tap: tap))
        hardware = HardwareProbe()
    }

    /// Asks for one device; nil when there is none. The round trip is a barrier: what was announced before is true now.
    package func link(index: UInt32) throws(NetlinkError) -> Link? {
        try questions.withLock { socket throws(NetlinkError) in try socket.link(index: index) }
    }

    package func link(named name: String) throws(NetlinkError) -> Link? {
        try questions.withLock { socket throws(NetlinkError) in try socket.link(named: name) }
    }

    package func links() throws(NetlinkError) -> [Link] {
        try questions.withLock { socket throws(NetlinkError) in try socket.links() }
    }

    /// Every IPv4 and IPv6 address of the namespace.
    package func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try questions.withLock { socket throws(NetlinkError) in try socket.addresses() }
    }

    /// Looks several ways up in one round; the answers stand in the order of the questions.
    package func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try questions.withLock { socket throws(NetlinkError) in try socket.routes(queries).routes }
    }

    /// Asks for links, then looks ways up, all in one round.
    package func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        try questions.withLock { socket throws(NetlinkError) in try socket.routes(queries, after: links) }
    }

    /// Every leg of the routing entry behind a way.
    package func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] {
        try questions.withLock { socket throws(NetlinkError) in try socket.legs(of: query) }
    }

    package func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        try questions.withLock { socket throws(NetlinkError) in try socket.nextHop(id: id) }
    }

    /// The policy rules of a family in the order they are tried.
    package func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try questions.withLock { socket throws(NetlinkError) in try socket.rules(family) }
    }

    /// Every route of every table that covers an address.
    package func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute] {
        try questions.withLock { socket throws(NetlinkError) in try socket.routes(covering: address) }
    }

    /// Whether IPv6 is switched off on a link; nil where it has no IPv6 at all.
    package func isIPv6Disabled(onLink index: UInt32) throws(NetlinkError) -> Bool? {
        try questions.withLock { socket throws(NetlinkError) in try socket.isIPv6Disabled(onLink: index) }
    }

    /// The neighbour with this address on a link; nil when the link knows none.
    package func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try questions.withLock { socket throws(NetlinkError) in try socket.neighbour(address, on: link) }
    }

    /// What the device behind a link of this namespace tells of itself, from any thread; what it does not tell is nil.
    ///
    /// Asked once for each index, name, hardware type and kind: a repetition costs no system call.
    package func hardware(of link: Link) -> LinkHardware {
        hardware.hardware(of: link, besides: events)
    }
}
