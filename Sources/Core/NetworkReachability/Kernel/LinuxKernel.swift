package import Dispatch
package import LinuxSupport
package import Netlink

/// The kernel of this machine.
struct LinuxKernel: Kernel {
    /// The network namespace to open; nil for the process's own, which may differ from that of the calling thread.
    let namespace: NamespaceReference?

    /// Receives the messages of the sockets, for recordings; nil if they are not recorded.
    let tap: (any NetlinkTap)?

    /// The process's namespace when this value was created. If the process has changed its namespace since then, the
    /// network is a different one.
    private let home = NamespaceIdentity.ofProcess

    init(namespace: NamespaceReference?, tap: (any NetlinkTap)? = nil) {
        self.namespace = namespace
        self.tap = tap
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        guard let namespace else {
            return try inProcessNamespace { () throws(NetlinkError) in LinuxConnection(try RouteSockets(tap: tap)) }
        }
        // The directory may have been missing. Called before the namespace is opened, so that no change is missed in
        // between.
        if namespace.process == nil { SharedFileWatch.shared.renew(namespace.path) }
        return try NamespaceEntry.query(inside: namespace) { identity throws(NetlinkError) in
            LinuxConnection(try RouteSockets(tap: tap), namespace: namespace, identity: identity)
        }
    }

    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] {
        guard let namespace else { return try inProcessNamespace(DefaultRouteDump.query) }
        return try NamespaceEntry.query(inside: namespace) { _ throws(NetlinkError) in try DefaultRouteDump.query() }
    }

    /// Runs `body` in the process's namespace.
    private func inProcessNamespace<Value: Sendable>(
        _ body: @escaping @Sendable () throws(NetlinkError) -> Value
    ) throws(NetlinkError) -> Value {
        guard NamespaceIdentity.ofProcess == home else {
            throw NetlinkError("return to the network namespace in which the manager was created", .notPermitted)
        }
        guard let elsewhere = NamespaceReference.ofProcessIfDifferent else { return try body() }
        return try NamespaceEntry.query(inside: elsewhere) { _ throws(NetlinkError) in try body() }
    }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        guard let namespace else { return nil }
        guard let process = namespace.process else {
            return SharedFileWatch.shared.add(namespace.path, on: queue, changed)
        }
        return ReadSource.watchOnce(process.descriptor, of: process, on: queue, changed)
    }
}

extension MonitorEnvironment {
    /// Creates an environment of this machine for `options`.
    ///
    /// - Parameter tap: Receives the messages of the netlink sockets.
    /// - Throws: ``NetworkReachabilityError`` if the process of the network namespace does not exist.
    package init(
        of options: NetworkReachabilityOptions,
        tap: (any NetlinkTap)? = nil
    ) throws(NetworkReachabilityError) {
        self.init(of: try options.networkNamespace.makeReference(), options, tap: tap)
    }

    init(of namespace: NamespaceReference?, _ options: NetworkReachabilityOptions, tap: (any NetlinkTap)? = nil) {
        self.init(
            kernel: LinuxKernel(namespace: namespace, tap: tap),
            clock: SystemMonitorClock(),
            resolver: SystemResolver(namespace: namespace)
        )
        filtersRoutes = options.filtersRouteMessages
    }
}

/// The system clock.
package struct SystemMonitorClock: MonitorClock {
    package init() {}

    package var monotonic: Duration { SystemClock.monotonic }
    package var boot: Duration { SystemClock.boot }

    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation { DispatchTimer.schedule(after: delay, on: queue, action) }

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        // Retries must work even if no descriptors are left.
        DispatchTimer.prepare()
        return ResumeNotifier.shared.add(on: queue, action)
    }
}

/// The two netlink sockets of a namespace. While the connection listens, the event socket has a separate thread.
final class LinuxConnection: KernelConnection {
    private let sockets: RouteSockets
    private let listener: Locked<EventThread?> = Locked(nil)

    private let namespace: NamespaceReference?
    private let identity: NamespaceIdentity?

    /// Creates a connection from open sockets.
    ///
    /// - Parameters:
    ///   - namespace: The reference through which the sockets were opened; nil for the process's namespace.
    ///   - identity: The namespace in which the sockets were opened.
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

    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] { try sockets.query(queries) }

    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        let missing = try sockets.events.join()
        let thread = try EventThread(sockets.events)
        try thread.start(on: queue, received)
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

/// A thread that waits for the event socket and runs the listener on its queue.
///
/// A Dispatch source wakes a Dispatch thread, which wakes another thread for the queue. This doubles the measured time
/// from a change to its notification. `sync` runs the block on the calling thread, so one wake-up is sufficient.
final class EventThread: Sendable {
    private let events: EventSocket
    /// One per thread, so that the end of one thread never wakes the next one, which waits for the same socket.
    private let wakeup: Wakeup
    private let hasEnded = Locked(false)
    private let delivering = Locked(false)

    init(_ events: EventSocket) throws(NetlinkError) {
        self.events = events
        do {
            wakeup = try Wakeup()
        } catch {
            throw NetlinkError("create the wake-up descriptor of the event thread", error)
        }
    }

    /// A Boolean value that indicates whether events are being read, or the listener has not returned.
    var isDelivering: Bool { delivering.withLock { $0 } }

    /// Calls `received` on `queue` for each burst, until `end()` is called.
    func start(on queue: DispatchQueue, _ received: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        do {
            // The thread retains the socket. The descriptor is closed after both the connection and the thread have
            // released it.
            try Thread.detach { [self] in
                while !hasEnded.withLock({ $0 }) {
                    var failure: SystemError?
                    do throws(SystemError) { try events.wait(or: wakeup) } catch { failure = error }
                    let noticed = SystemClock.monotonic
                    queue.sync { [self, failure] in
                        if hasEnded.withLock({ $0 }) { return }
                        delivering.withLock { $0 = true }
                        defer { delivering.withLock { $0 = false } }
                        var burst = events.drain()
                        burst.failure = burst.failure ?? failure
                        if burst.isEmpty { return }
                        // A socket that cannot be read is not read again.
                        if burst.failure != nil { hasEnded.withLock { $0 = true } }
                        burst.noticed = noticed
                        if burst.messages > 1 { burst.completed = SystemClock.monotonic }
                        received(burst)
                    }
                }
            }
        } catch {
            throw NetlinkError("start a thread for netlink events", error)
        }
    }

    /// Ends the thread soon, without waiting for it.
    func end() {
        hasEnded.withLock { $0 = true }
        wakeup.wake()
    }
}
