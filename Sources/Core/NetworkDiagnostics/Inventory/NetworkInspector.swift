package import LinuxSupport
package import Netlink
package import NetworkReachability

/// Answers questions about a network namespace beside that for the path to a target, and tells when to ask them again.
///
/// It shares the monitor of the managers of its namespace. Thread-safe; each question asks the kernel on the calling thread.
package final class NetworkInspector: Sendable {
    let monitor: PathMonitor
    let options: NetworkReachabilityOptions

    /// Throws ``NetworkReachabilityError`` when a namespace cannot be entered.
    package convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        self.init(monitor: try MonitorRegistry.monitor(of: options), options: options)
    }

    package init(monitor: PathMonitor, options: NetworkReachabilityOptions) {
        self.monitor = monitor
        self.options = options
    }

    /// What the monitor of this namespace has done so far.
    package var statistics: MonitorStatistics { monitor.statistics }

    /// Every interface with its addresses and default routes, ordered by index.
    ///
    /// This walks the IPv6 tables that rules lead to, and the beginning of the IPv4 ones: seldom is better than often.
    package func interfaces() throws(NetlinkError) -> [InterfaceDetails] {
        let routes = try monitor.environment.kernel.defaultRoutes()
        return try monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.interfaces(with: routes)
        }
    }

    /// Tells of the interfaces now, then whenever anything of them changes, until the result is cancelled or let go. A storm
    /// of changes is evaluated five times a second. While nothing changes, nothing runs.
    ///
    /// - Parameter changed: Runs on the monitor's queue. Of failures, each is reported once in a row.
    package func watchInterfaces(
        _ changed: @escaping @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    ) -> Cancellation {
        let watcher = InterfaceWatcher(self, changed)
        return observe { watcher.mayHaveChanged() }
    }

    /// Runs `action` on the monitor's queue soon, and then whenever links, addresses, rules, next hops, default routes or
    /// the routes to `addresses` may have changed, until the result is cancelled or let go. Nothing runs in between.
    package func observe(routesTo addresses: [IPAddress] = [], _ action: @escaping @Sendable () -> Void) -> Cancellation
    {
        let observer = monitor.addObserver(action)
        // The monitor listens for targets; this machine itself is the cheapest.
        let targets = addresses.isEmpty ? [IPAddress(WireAddress(ipv4: 0x7f00_0001))] : addresses
        let subscriptions = targets.map { address in
            let record = monitor.record(of: Target(.address(address), PathConstraints(mark: options.firewallMark)))
            return Subscription(to: record, interest: .status, settle: .immediate) { _, _ in }
        }
        for subscription in subscriptions { subscription.begin() }
        return Cancellation {
            observer.cancel()
            for subscription in subscriptions { subscription.end() }
        }
    }
}
