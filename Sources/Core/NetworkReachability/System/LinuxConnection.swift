import Dispatch
import LinuxPrimitives
import Netlink
import RouteFilter

/// The two netlink sockets of a namespace, the listening one with a thread of its own while it listens.
final class LinuxConnection: KernelConnection {
    private let sockets: RouteSockets
    private let listener: Locked<EventThread?> = Locked(nil)

    private let namespace: NamespaceReference?
    private let identity: NamespaceIdentity?

    /// - Parameters:
    ///   - namespace: what the sockets were opened through; nil for the calling thread's namespace.
    ///   - identity: the namespace they were opened in.
    init(_ sockets: RouteSockets, namespace: NamespaceReference? = nil, identity: NamespaceIdentity? = nil) {
        self.sockets = sockets
        self.namespace = namespace
        self.identity = identity
    }

    deinit {
        stopListening()
    }

    var isCurrent: Bool {
        namespace?.leads(to: identity) ?? true
    }

    func link(index: UInt32) throws(NetlinkError) -> Link? { try sockets.link(index: index) }
    func link(named name: String) throws(NetlinkError) -> Link? { try sockets.link(named: name) }
    func links() throws(NetlinkError) -> [Link] { try sockets.links() }
    func addresses() throws(NetlinkError) -> [InterfaceAddress] { try sockets.addresses() }
    func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] { try sockets.legs(of: query) }
    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? { try sockets.nextHop(id: id) }
    func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] { try sockets.rules(family) }

    func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute] {
        try sockets.routes(covering: address)
    }

    func isIPv6Disabled(onLink index: UInt32) throws(NetlinkError) -> Bool? {
        try sockets.isIPv6Disabled(onLink: index)
    }

    func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try sockets.neighbour(address, on: link)
    }

    func hardware(of link: Link) -> LinkHardware { sockets.hardware(of: link) }

    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try sockets.routes(queries)
    }

    func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        try sockets.routes(queries, after: links)
    }

    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        try sockets.events.join()
        let thread = EventThread(sockets.events)
        try thread.start(on: queue, ring)
        listener.withLock { $0 = thread }
    }

    func stopListening() {
        let thread = listener.withLock { thread in
            defer { thread = nil }
            return thread
        }
        sockets.events.leave()
        thread?.end()
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try sockets.events.setFilter(filter) }

    func nextBurst(within limit: Duration) -> EventBurst? {
        guard sockets.events.wait(atMost: limit) else { return nil }
        let burst = sockets.events.drain()
        return burst.isEmpty ? nil : burst
    }

    func activity(ofPort port: UInt32) -> ProcessActivity { .ofProcess(withPort: port) }
}
