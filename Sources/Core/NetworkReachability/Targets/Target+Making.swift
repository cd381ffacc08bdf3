import LinuxPrimitives
import Netlink

/// What managers are made of, checked.
extension Target {
    /// The network at large.
    package init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        let addresses = try PathConstraints(options).counted(options.addressesAtLarge)
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
        } else if let family = try PathConstraints(options).family, address.wire.family != family {
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
        try self.init(destination, PathConstraints(options))
    }
}

extension PathConstraints {
    fileprivate init(_ options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        self.init(mark: options.firewallMark, interface: options.interface, family: options.family)
        if let interface {
            guard InterfaceName.isValid(interface) else { throw .invalidInterface(interface) }
        } else if options.networkNamespace == .current, let index = options.boundInterface {
            interface = "\(index)"
        }
        if let bound = options.sourceAddress, !bound.isUnspecified {
            guard family == nil || family == bound.wire.family else { throw .otherFamily(bound.description) }
            (source, family) = (bound, bound.wire.family)
        }
        (requiredType, prohibitedTypes) = (options.requiredInterfaceType, options.prohibitedInterfaceTypes)
    }
}
