import Logging
import Netlink

/// Finds the one monitor of each network namespace, as long as anybody holds it.
enum MonitorRegistry {
    /// What makes two managers share a monitor.
    private struct Key: Hashable {
        let path: String?
        let identity: NamespaceIdentity?
        let filtersRoutes: Bool
    }

    private struct WeakMonitor {
        weak let monitor: PathMonitor?
    }

    private static let monitors: Locked<[Key: WeakMonitor]> = Locked([:])

    /// The monitor of a namespace, made if there is none. The logger is used only by a monitor that is made.
    static func monitor(of options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> PathMonitor {
        let namespace = options.networkNamespace
        let key = Key(
            path: namespace.path,
            identity: identity(of: namespace),
            filtersRoutes: options.filtersRouteMessages
        )
        if let known = monitors.withLock({ $0[key]?.monitor }) { return known }
        let kernel = LinuxKernel(namespace: namespace.path)
        let resolver = SystemResolver(namespace: namespace.path)
        var surroundings = Surroundings(kernel: kernel, clock: SystemTimekeeper(), resolver: resolver)
        surroundings.filtersRoutes = options.filtersRouteMessages
        let monitor = PathMonitor(surroundings: surroundings, logger: options.logger)
        if let failure = monitor.failure, failure.stage == .namespace {
            throw .namespace(namespace.description, failure)
        }
        return monitors.withLock { monitors in
            // Another thread may have been faster.
            if let known = monitors[key]?.monitor { return known }
            monitors = monitors.filter { $0.value.monitor != nil }
            monitors[key] = WeakMonitor(monitor: monitor)
            return monitor
        }
    }

    private static func identity(of namespace: NetworkNamespace) -> NamespaceIdentity? {
        guard let path = namespace.path else { return .current }
        return try? NamespaceIdentity(path: path)
    }
}
