package import Dispatch
package import LinuxSupport
package import Netlink

/// The kernel this process runs on.
struct LinuxKernel: Kernel {
    /// The network namespace to open; nil for the process's own, whichever the calling thread is in.
    let namespace: NamespaceReference?

    /// Hears what passes the sockets; nil for nobody.
    let tap: (any NetlinkTap)?

    /// The process's namespace when this was made: another one would be another network altogether.
    private let home = NamespaceIdentity.ofProcess

    init(namespace: NamespaceReference?, tap: (any NetlinkTap)? = nil) {
        self.namespace = namespace
        self.tap = tap
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        guard let namespace else {
            return try atHome { () throws(NetlinkError) in LinuxConnection(try RouteSockets(tap: tap)) }
        }
        // Its directory may have been away. Before it is opened, so that nothing falls in between.
        if namespace.process == nil { SharedFileWatch.shared.renew(namespace.path) }
        return try NamespaceEntry.ask(inside: namespace) { identity throws(NetlinkError) in
            LinuxConnection(try RouteSockets(tap: tap), namespace: namespace, identity: identity)
        }
    }

    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] {
        guard let namespace else { return try atHome(DefaultRouteQuestion.ask) }
        return try NamespaceEntry.ask(inside: namespace) { _ throws(NetlinkError) in try DefaultRouteQuestion.ask() }
    }

    /// Runs `body` in the process's namespace.
    private func atHome<Value: Sendable>(
        _ body: @escaping @Sendable () throws(NetlinkError) -> Value
    ) throws(NetlinkError) -> Value {
        guard NamespaceIdentity.ofProcess == home else {
            throw NetlinkError("return to the network namespace the manager was made in", .notPermitted)
        }
        guard let elsewhere = NamespaceReference.ofProcessElsewhere else { return try body() }
        return try NamespaceEntry.ask(inside: elsewhere) { _ throws(NetlinkError) in try body() }
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
    /// This machine, as `options` want it watched.
    ///
    /// - Parameter tap: hears what passes the netlink sockets.
    /// - Throws: ``NetworkReachabilityError`` when the network namespace is that of no process.
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

/// The machine's own time.
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
        // A retry must be timed also when there are no descriptors left.
        DispatchTimer.prepare()
        return SleepWatch.shared.add(on: queue, action)
    }
}
