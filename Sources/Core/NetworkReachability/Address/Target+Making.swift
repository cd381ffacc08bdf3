import LinuxPrimitives
import Netlink

/// What managers are made of, checked.
extension Target {
    /// The network at large.
    package init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        let addresses = options.addressesAtLarge.filter { options.family == nil || $0.wire.family == options.family }
        guard !addresses.isEmpty else { throw .noAddressesAtLarge }
        try self.init(.atLarge(addresses), options)
    }

    /// A host, given by name or by address literal.
    package init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if let address = IPAddress(host) {
            try self.init(address: address, options: options)
        } else {
            guard HostName.isValid(host) else { throw .invalidHost(host) }
            try self.init(.name(host, refreshInterval: options.nameRefreshInterval), options)
        }
    }

    /// An address; `0.0.0.0` and `::` stand for the network at large.
    package init(address: IPAddress, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if address.isUnspecified {
            try self.init(options: options)
        } else if let family = options.family, address.wire.family != family {
            throw .otherFamily(address.description)
        } else if address.isIPv6, address.isLinkLocal, address.zone == nil {
            guard let interface = options.interface else { throw .zoneRequired(address.description) }
            try self.init(.address(IPAddress(address.wire, zone: interface)), options)
        } else {
            try self.init(.address(address), options)
        }
    }

    private init(
        _ destination: Destination,
        _ options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) {
        var interface = options.interface
        if let interface {
            guard InterfaceName.isValid(interface) else { throw .invalidInterface(interface) }
        } else if options.networkNamespace == .current, let index = options.boundInterface {
            interface = "\(index)"
        }
        self.init(destination, mark: options.firewallMark, interface: interface, family: options.family)
    }
}
