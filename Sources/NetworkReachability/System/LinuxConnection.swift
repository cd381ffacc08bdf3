import Dispatch
import Netlink

/// The two netlink sockets of a namespace, the listening one driven by Dispatch.
final class LinuxConnection: KernelConnection {
    private let sockets: RouteSockets
    private let source: Locked<Cancellation?> = Locked(nil)

    private let namespace: String?
    private let identity: NamespaceIdentity?

    /// - Parameter namespace: the path the sockets were opened through; nil for the calling thread's namespace.
    init(_ sockets: RouteSockets, namespace: String?) {
        self.sockets = sockets
        self.namespace = namespace
        identity = namespace.flatMap { try? NamespaceIdentity(path: $0) }
    }

    var isCurrent: Bool {
        guard let namespace else { return true }
        return (try? NamespaceIdentity(path: namespace)) == identity
    }

    func link(index: UInt32) throws(NetlinkError) -> Link? { try sockets.link(index: index) }
    func link(named name: String) throws(NetlinkError) -> Link? { try sockets.link(named: name) }
    func links() throws(NetlinkError) -> [Link] { try sockets.links() }
    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? { try sockets.nextHop(id: id) }
    func hardware(of link: Link) -> LinkHardware { sockets.hardware(of: link) }

    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try sockets.routes(queries)
    }

    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        let events = sockets.events
        try events.join()
        let watch = ReadSource.watch(events.descriptor, of: events, on: queue) {
            let burst = events.drain()
            if !burst.isEmpty { ring(burst) }
        }
        source.withLock { $0 = watch }
    }

    func stopListening() {
        let source = source.withLock { source in
            defer { source = nil }
            return source
        }
        source?.cancel()
        sockets.events.leave()
    }

    func nextBurst(within limit: Duration) -> EventBurst? {
        guard sockets.events.wait(atMost: limit) else { return nil }
        let burst = sockets.events.drain()
        return burst.isEmpty ? nil : burst
    }
}
