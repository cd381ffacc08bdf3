import NetworkReachability

/// A network that tests play, through the one seam or for real. What is done to it, and what the library must say of it, is
/// the same. Its methods block; call them from a thread of your own.
protocol World: AnyObject, Sendable {
    /// Makes changes, one after the other.
    func apply(_ changes: [Change]) throws

    /// Makes changes in one go, as one process that sends them all at once.
    func batch(_ changes: [Change]) throws

    /// A manager of a host, or of the network at large where none is named. Managers of a world share a monitor.
    func manager(
        of host: String?,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) -> NetworkReachabilityManager

    /// A monitor of many hosts, which shares with the managers of this world.
    func targets(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor

    /// Lets everything happen that is bound to happen without another change, where that can be told.
    func settle()

    /// Ends everything.
    func close()
}

extension World {
    func apply(_ changes: Change...) throws {
        try apply(changes)
    }

    func manager(of host: String? = nil) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        try manager(of: host, options: NetworkReachabilityOptions())
    }

    /// A manager of the network at large, and what it tells a listener.
    func listeningManager() throws -> (NetworkReachabilityManager, Listener) {
        let (manager, listener) = (try manager(), Listener())
        manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
        return (manager, listener)
    }

    /// A monitor of these hosts.
    func targets(_ hosts: [String] = []) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor {
        let targets = try targets(options: NetworkReachabilityOptions())
        try targets.setHosts(hosts)
        return targets
    }
}
