package import NetworkReachability

/// The DNS servers that programs are told to ask, by `resolv.conf(5)`.
///
/// Where no line names one the C library asks 127.0.0.1, for a machine may serve itself. Here that means none: nobody wrote it down, and
/// almost nowhere is there such a server.
package struct NameServers: Hashable, Sendable {
    /// In their order, at most three; empty where none is configured. A link-local one has its interface as a zone.
    ///
    /// Behind a stub they are the servers that it asks; where these are not known, it is the only one.
    package var servers: [IPAddress]
    /// Where systemd-resolved listens, if programs ask it instead (`systemd-resolved.service(8)`).
    package var stub: IPAddress?

    package init(_ servers: [IPAddress], stub: IPAddress? = nil) {
        (self.servers, self.stub) = (servers, stub)
    }

    init(_ configuration: ResolverConfiguration) {
        servers = configuration.servers
        stub = configuration.stub ?? servers.first { ResolverConfiguration.stubs.contains($0.description) }
    }

    /// Those of a namespace now: a name of `ip-netns(8)` may have a file of its own in `/etc/netns`. Reads files, on the calling thread.
    package static func configured(in namespace: NetworkNamespace) throws(NetworkReachabilityError) -> NameServers {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        let configuration = try MonitorEnvironment(of: options).resolver.configuration
        return configuration.map(NameServers.init) ?? NameServers([])
    }
}
