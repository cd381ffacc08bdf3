package import LinuxSupport
package import NetworkReachability

/// What the service watches, under a name of its own.
package struct ServiceTarget: Hashable, Sendable {
    /// The name, in the configuration, the API and metrics.
    package let name: String
    /// A name or address of a host; nil for the network at large.
    package let host: String?
    /// Where it is asked.
    package let namespace: NetworkNamespace
    /// The interface that packets are bound to; nil for any.
    package let interface: String?
    /// The firewall mark of the packets, 0 for none.
    package let mark: UInt32
    /// The family that counts; nil for both.
    package let family: AddressFamily?
    /// How it is checked; nil where the kernel alone is asked.
    package var checks: CheckSettings?
    /// How long an outage of it lasts before anybody is notified; nil for what each who is notified wants.
    package var settle: Duration?

    package init(
        name: String,
        host: String?,
        namespace: NetworkNamespace = .current,
        interface: String? = nil,
        mark: UInt32 = 0,
        family: AddressFamily? = nil,
        checks: CheckSettings? = nil,
        settle: Duration? = nil
    ) {
        (self.name, self.host, self.namespace) = (name, host, namespace)
        (self.interface, self.mark, self.family) = (interface, mark, family)
        (self.checks, self.settle) = (checks, settle)
    }

    /// What the kernel is asked for it, without what is checked besides.
    var path: ServiceTarget {
        var target = self
        (target.checks, target.settle) = (nil, nil)
        return target
    }

    /// What is watched where nothing is configured: the network at large.
    package static let internet = ServiceTarget(name: "internet", host: nil)

    /// The manager that answers for it.
    package func makeManager() throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        options.interface = interface
        options.firewallMark = mark
        options.family = family
        // Nobody waits for the name service here: until it answers, the state is unknown.
        options.nameResolutionWait = .zero
        guard let host else { return try NetworkReachabilityManager(options: options) }
        return try NetworkReachabilityManager(host: host, options: options)
    }
}
