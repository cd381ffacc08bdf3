package import NetworkReachability

/// What the service watches, under a name of its own.
package struct ServiceTarget: Sendable {
    /// The name, in the configuration, the API and metrics.
    package let name: String
    /// A name or address of a host; nil for the network at large.
    package let host: String?
    /// How to watch it.
    package let options: NetworkReachabilityOptions

    package init(name: String, host: String?, options: NetworkReachabilityOptions = NetworkReachabilityOptions()) {
        self.name = name
        self.host = host
        self.options = options
    }

    /// What is watched where nothing is configured: the network at large.
    package static let internet = ServiceTarget(name: "internet", host: nil)

    /// The manager that answers for it.
    package func makeManager() throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        // Nobody waits for the name service here: until it answers, the state is unknown.
        var options = options
        options.nameResolutionWait = .zero
        guard let host else { return try NetworkReachabilityManager(options: options) }
        return try NetworkReachabilityManager(host: host, options: options)
    }
}
