import LinuxSupport
import Logging
import Netlink

/// The monitors of the process, one per network namespace. A monitor exists as long as it has an owner.
package enum MonitorRegistry {
    /// The properties by which managers share a monitor.
    private struct Key: Hashable {
        let namespace: NetworkNamespace
        let identity: NamespaceIdentity?
        let filtersRoutes: Bool
    }

    private struct WeakMonitor {
        weak let monitor: PathMonitor?
        /// Retained by the monitor.
        weak let process: ProcessHandle?

        /// The monitor; nil if its process has ended, because another process may have the same ID now.
        var current: PathMonitor? { process?.hasEnded == true ? nil : monitor }
    }

    private static let monitors: Locked<[Key: WeakMonitor]> = Locked([:])

    /// Returns the monitor of a namespace. Creates it if it does not exist; the logger of the options is used only
    /// then.
    package static func monitor(of options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> PathMonitor
    {
        let namespace = options.networkNamespace
        let reference = try namespace.makeReference()
        let identity = reference.map { try? NamespaceIdentity(path: $0.path) } ?? .ofProcess
        let key = Key(namespace: namespace, identity: identity, filtersRoutes: options.filtersRouteMessages)
        if let known = monitors.withLock({ $0[key]?.current }) { return known }
        let environment = MonitorEnvironment(of: reference, options)
        let monitor = PathMonitor(environment: environment, logger: options.logger)
        if let failure = monitor.failure, failure.stage == .namespace {
            throw .namespace(namespace, failure)
        }
        return monitors.withLock { monitors in
            // Another thread may have been faster.
            if let known = monitors[key]?.current { return known }
            monitors = monitors.filter { $0.value.monitor != nil }
            monitors[key] = WeakMonitor(monitor: monitor, process: reference?.process)
            return monitor
        }
    }
}
