/// What managers are made of, checked.
extension Target {
    /// The network at large.
    package init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        guard !options.addressesAtLarge.isEmpty else { throw .noAddressesAtLarge }
        self.init(.atLarge(options.addressesAtLarge), options)
    }

    /// A host, given by name or by address literal.
    package init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if let address = IPAddress(host) {
            try self.init(address: address, options: options)
        } else {
            guard HostName.isValid(host) else { throw .invalidHost(host) }
            self.init(.name(host, refreshInterval: options.nameRefreshInterval), options)
        }
    }

    /// An address; `0.0.0.0` and `::` stand for the network at large.
    package init(address: IPAddress, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if address.isUnspecified {
            try self.init(options: options)
        } else if address.isIPv6, address.isLinkLocal, address.zone == nil {
            throw .zoneRequired(address.description)
        } else {
            self.init(.address(address), options)
        }
    }

    private init(_ destination: Destination, _ options: NetworkReachabilityOptions) {
        self.init(destination, mark: options.firewallMark)
    }
}
