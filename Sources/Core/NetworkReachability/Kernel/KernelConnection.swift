package import Dispatch
package import LinuxPrimitives
package import Netlink
package import RouteFilter

/// One network namespace: questions any thread may ask, and hints of changes.
///
/// Letting go of the connection closes its descriptors.
package protocol KernelConnection: AnyObject, Sendable {
    /// False once the namespace this was opened in is no longer the one it was opened by; holding on would keep a
    /// deleted namespace and its devices alive.
    var isCurrent: Bool { get }

    /// Asks for one link; nil when there is none. The round trip is a barrier: a change whose notification was received
    /// before is visible to every question after it.
    func link(index: UInt32) throws(NetlinkError) -> Link?

    /// Asks for the link of this name; nil when there is none.
    func link(named name: String) throws(NetlinkError) -> Link?

    /// Every link of the namespace.
    func links() throws(NetlinkError) -> [Link]

    /// Every IPv4 and IPv6 address of the namespace.
    func addresses() throws(NetlinkError) -> [InterfaceAddress]

    /// Looks several ways up in one round; the answers stand in the order of the questions.
    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>]

    /// Asks for links, then looks ways up, in one round if it can; the links are a barrier for the ways.
    func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers

    /// Every leg of the routing entry behind a way; none where there is no such entry, or it names a next hop object alone.
    func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop]

    /// Asks for a next hop object; nil when there is none.
    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject?

    /// The policy rules of a family in the order they are tried; empty where the kernel has none.
    func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule]

    /// Every route of every table that covers an address, also those that no lookup finds. All tables are read: only to explain.
    func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute]

    /// Whether IPv6 is switched off on a link (`disable_ipv6`); nil where that is not told.
    func isIPv6Disabled(onLink index: UInt32) throws(NetlinkError) -> Bool?

    /// Asks for the neighbour with this address on a link; nil when the link knows none.
    func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour?

    /// What the device behind a link tells of itself; never throws, what is not told is nil.
    func hardware(of link: Link) -> LinkHardware

    /// Begins to hear of changes: `ring` runs on `queue` once for each burst. A second call is a programming error.
    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError)

    /// Says which routes are to be heard of, from now on until it is said again or the connection is let go; nil for all.
    /// Every other message is heard of in any case.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError)

    /// Hears no more. `ring` may still run once if it is just starting.
    func stopListening()

    /// On the listening queue: blocks up to `limit` for another burst; nil when none came.
    func nextBurst(within limit: Duration) -> EventBurst?

    /// Whether the process with this netlink port is about to change more.
    func activity(ofPort port: UInt32) -> ProcessActivity
}

extension KernelConnection {
    package func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute] { [] }

    package func isIPv6Disabled(onLink index: UInt32) throws(NetlinkError) -> Bool? { nil }

    /// One after the other.
    package func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        var found: [Link?] = []
        for index in links { found.append(try link(index: index)) }
        return RouteAnswers(links: found, routes: try routes(queries))
    }
}
