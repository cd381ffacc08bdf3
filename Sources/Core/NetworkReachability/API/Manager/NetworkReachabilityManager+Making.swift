public import Glibc

extension NetworkReachabilityManager {
    /// A manager of the network at large: reachable while the kernel has a path to most of the internet.
    ///
    /// It is never nil; it is failable because Alamofire's is. Where netlink is denied the status is unknown until it works.
    public convenience init?() {
        try? self.init(options: NetworkReachabilityOptions())
    }

    /// A manager of a host, given by name or by address literal (IPv4, or IPv6 with a zone where it is link-local).
    ///
    /// A URL, a name with a port, an address in brackets and the empty string are nil; ``init(host:options:)`` says why.
    /// `0.0.0.0` and `::` stand for the network at large, as with Apple's function.
    public convenience init?(host: String) {
        try? self.init(host: host, options: NetworkReachabilityOptions())
    }

    /// A manager of an address; nil for a link-local IPv6 address without a zone.
    ///
    /// `0.0.0.0` and `::` stand for the network at large, as with Apple's function.
    public convenience init?(address: IPAddress) {
        try? self.init(address: address, options: NetworkReachabilityOptions())
    }

    /// A manager of a socket address of any family; nil when that is neither IPv4 nor IPv6. The port does not matter.
    public convenience init?(address: sockaddr_storage) {
        guard let address = IPAddress(address) else { return nil }
        self.init(address: address)
    }

    /// A manager of an IPv4 socket address. The port does not matter.
    public convenience init?(address: sockaddr_in) {
        self.init(address: IPAddress(address))
    }

    /// A manager of an IPv6 socket address; nil when it is link-local and names no scope. The port does not matter.
    public convenience init?(address: sockaddr_in6) {
        self.init(address: IPAddress(address))
    }

    /// A manager of the network at large.
    ///
    /// - Throws: ``NetworkReachabilityError`` when a namespace cannot be entered or no addresses are given. Netlink denied
    ///   by a sandbox is no error: the status is unknown until it works.
    public convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(options: options), options: options)
    }

    /// A manager of a host, given by name or by address literal.
    ///
    /// - Throws: ``NetworkReachabilityError`` when `host` is neither, or when a namespace cannot be entered.
    public convenience init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(host: host, options: options), options: options)
    }

    /// A manager of an address.
    ///
    /// - Throws: ``NetworkReachabilityError`` when it is link-local IPv6 without a zone, or when a namespace cannot be
    ///   entered.
    public convenience init(address: IPAddress, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(address: address, options: options), options: options)
    }

    private convenience init(
        _ target: Target,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) {
        let monitor = try MonitorRegistry.monitor(of: options)
        self.init(target, monitor: monitor, options: options)
    }
}
