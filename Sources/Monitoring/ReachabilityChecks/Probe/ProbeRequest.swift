package import LinuxSupport
package import NetworkReachability

/// What a probe is bound to; nil is left to the kernel.
package struct ProbeBinding: Hashable, Sendable {
    package var family: AddressFamily
    /// The source address, `bind(2)`.
    package var source: IPAddress?
    /// SO_BINDTODEVICE of `socket(7)`.
    package var interface: String?
    /// SO_MARK of `socket(7)`, which needs a privilege.
    package var mark: UInt32?
    package var namespace: NetworkNamespace
    package var hopLimit: UInt8?
    /// SO_PRIORITY of `socket(7)`.
    package var priority: Int32?
    /// TCP_MAXSEG of `tcp(7)`, in bytes.
    package var maximumSegment: UInt16?

    package init(family: AddressFamily, namespace: NetworkNamespace = .current) {
        self.family = family
        self.namespace = namespace
    }
}

/// Why a server is asked for a name.
package enum NamePurpose: Hashable, Sendable {
    /// `ipv4only.arpa`, whose addresses everybody knows (RFC 7050).
    case known
    /// A random name below `.invalid`, which nobody has (RFC 6761).
    case invented
    /// The target's name.
    case target
    /// A name whose addresses the user expects.
    case expected(String)
}

/// Whom a probe is about.
package enum ProbeSubject: Hashable, Sendable {
    /// What lies between: gateway, hops, what the kernel knows.
    case line
    case server(IPAddress, NamePurpose)
    /// By its host: all URLs of one host are one anchor.
    case anchor(String)
    case target
    /// The address that nobody has.
    case nobody
    /// What a DNS server gave for a name that nobody has.
    case lure
    /// The network's own RFC 8908 server.
    case portal
}

/// What is asked of the network.
package struct ProbeRequest: Hashable, Sendable {
    package var kind: ProbeKind
    package var subject: ProbeSubject
    package var binding: ProbeBinding
    /// Where packets go; nil where the kernel alone is asked.
    package var destination: IPAddress?
    package var port: UInt16?
    /// The size of the IP packet in bytes, if the probe is about that.
    package var size: Int?
    /// The longest time it may take.
    package var limit: Duration

    package init(
        _ kind: ProbeKind,
        _ subject: ProbeSubject,
        binding: ProbeBinding,
        destination: IPAddress? = nil,
        port: UInt16? = nil,
        limit: Duration = .milliseconds(3400)
    ) {
        self.kind = kind
        self.subject = subject
        self.binding = binding
        self.destination = destination
        self.port = port
        self.limit = limit
    }
}
