import Dispatch
import LinuxSupport
import Netlink

/// The two netlink sockets of a namespace, the listening one with a thread of its own while it listens.
final class LinuxConnection: KernelConnection {
    private let sockets: RouteSockets
    private let listener: Locked<EventThread?> = Locked(nil)

    private let namespace: NamespaceReference?
    private let identity: NamespaceIdentity?

    /// - Parameters:
    ///   - namespace: what the sockets were opened through; nil for the process's namespace.
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

    var hasEvents: Bool { sockets.events.wait(atMost: .zero) }

    var isDelivering: Bool { listener.withLock { $0 }?.isDelivering ?? false }

    func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] { try sockets.ask(questions) }

    func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        let missing = try sockets.events.join()
        let thread = try EventThread(sockets.events)
        try thread.start(on: queue, heard)
        listener.withLock { $0 = thread }
        return missing.map(\.name)
    }

    func stopListening() {
        let thread = listener.withLock { $0.take() }
        sockets.events.leave()
        thread?.end()
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try sockets.events.setFilter(filter) }
}
