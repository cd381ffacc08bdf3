package import Netlink

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
