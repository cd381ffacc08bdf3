package import NetworkReachability

/// The hosts of a recording, while they are watched in some world, recorded or to be recorded.
package struct RecordedTargets: Sendable {
    /// A host as it was given, nil for the network at large.
    package typealias Target = (name: String?, manager: NetworkReachabilityManager)

    package let monitor: PathMonitor
    package let all: [Target]

    /// - Parameter hosts: names and addresses; none is the network at large.
    /// - Throws: ``NetworkReachabilityError`` when one of them is no host.
    package init(
        _ hosts: [String],
        in environment: MonitorEnvironment,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) {
        let monitor = PathMonitor(environment: environment, logger: options.logger)
        var all: [Target] = []
        if hosts.isEmpty {
            let target = try NetworkReachability.Target(options: options)
            all.append((nil, NetworkReachabilityManager(target, monitor: monitor, options: options)))
        }
        for host in hosts {
            let target = try NetworkReachability.Target(host: host, options: options)
            all.append((host, NetworkReachabilityManager(target, monitor: monitor, options: options)))
        }
        self.monitor = monitor
        self.all = all
    }

    /// Begins to hear of all of them, directly on the monitor's queue.
    package func listen(
        for interest: NetworkReachabilityInterest,
        _ listener: @escaping @Sendable (_ host: String?, NetworkPath) -> Void
    ) -> [NetworkReachabilityToken] {
        all.map { host, manager in
            manager.addPathListener(for: interest, onQueue: nil) { listener(host, $0) }
        }
    }
}
