public import NetworkReachability

extension NetworkEvidence {
    /// How the name was looked up: `nsswitch.conf(5)`, `resolv.conf(5)`.
    public struct Resolver: Hashable, Sendable {
        /// A server that is asked for names.
        public struct Server: Hashable, Sendable {
            /// Its address.
            public var address: IPAddress

            /// The interface that questions leave through, or the one that stands in the way; nil where none is known.
            public var interface: String?

            /// Why questions do not get there; nil when the kernel has a path.
            public var reason: NetworkPath.UnsatisfiedReason?

            /// What it said when it was asked to explain a name without addresses: the response code by its name (`NOERROR`,
            /// `NXDOMAIN`, `SERVFAIL`, `REFUSED` ..., RFC 6895), `truncated` where it wants to be asked over TCP, `silence`, `closed` for a port nobody listens on, or what the system
            /// said. Nil where it was not asked.
            public var answer: String?
        }

        /// Where names are looked up, in this order, by the words of `nsswitch.conf(5)`: `files`, `dns`, `resolve` ...
        public var sources: [String]

        /// Whether the hosts file has the name; then no server has to be asked.
        public var isInHostsFile: Bool

        /// The file that names the servers: `/etc/resolv.conf`, or systemd-resolved's own.
        public var file: String

        /// Where systemd-resolved listens, if programs ask it instead of the servers; nil where they ask them directly.
        public var stub: IPAddress?

        /// The servers in their order; empty where none is configured.
        public var servers: [Server]
    }
}

extension NetworkEvidence.Resolver {
    /// Whether servers are to be asked, and none is named: the C library asks this machine then (`resolv.conf(5)`).
    var namesNoServer: Bool {
        !isInHostsFile && servers.isEmpty && (sources.contains("dns") || sources.contains("resolve"))
    }

    /// The order, and what the hosts file says.
    var summary: String {
        let order = sources.joined(separator: ", ")
        var parts = ["\(order) (\(ResolverConfiguration.switchFile))"]
        if sources.contains("files") { parts.append(isInHostsFile ? "it is in /etc/hosts" : "it is not in /etc/hosts") }
        if isInHostsFile { return parts.joined(separator: "; ") }
        if let stub { parts.append("systemd-resolved at \(stub) asks the servers in \(file)") }
        if namesNoServer { parts.append("no server in \(file)" + (stub == nil ? ", so 127.0.0.1 is asked" : "")) }
        return parts.joined(separator: "; ")
    }
}

extension NetworkEvidence.Resolver.Server {
    /// Whether it says that there is no such name, or that it has no address.
    var deniesName: Bool { answer == "NXDOMAIN" || answer == "NOERROR" }
}

extension NetworkEvidence.Resolver.Server: CustomStringConvertible {
    /// For example `192.0.2.53 over eth0: no carrier`.
    public var description: String {
        let name = "\(address)" + (interface.map { " over \($0)" } ?? "")
        if let reason { return "\(name): \(reason)" }
        switch answer {
        case nil: return "\(name): there is a path"
        case "silence"?: return "\(name): there is a path, but no answer"
        case "truncated"?: return "\(name): its answer is cut off, it wants to be asked over TCP"
        case "NOERROR"?: return "\(name): answered NOERROR, the name has no IPv4 address"
        case "NXDOMAIN"?: return "\(name): answered NXDOMAIN, there is no such name"
        case "closed"?: return "\(name): nobody serves names there (port 53 is closed)"
        case let answer?: return "\(name): answered \(answer)"
        }
    }
}
