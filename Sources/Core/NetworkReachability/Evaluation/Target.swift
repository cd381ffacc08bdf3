package import LinuxSupport
import Netlink

/// A watched destination with its constraints. Equal targets share one evaluation.
package struct Target: Hashable, Sendable {
    package enum Destination: Hashable, Sendable {
        /// General reachability, determined by the majority of these addresses in one of the two families, IPv4 first.
        case general([IPAddress])
        case address(IPAddress)
        /// A host name, and the interval after which it is resolved again.
        case name(String, refreshInterval: Duration)
    }

    package let destination: Destination

    /// Nil if there are no constraints, as for almost all targets.
    private let shared: SharedValue<PathConstraints>?

    package var constraints: PathConstraints { shared?.value ?? PathConstraints() }

    package init(_ destination: Destination, _ constraints: PathConstraints = PathConstraints()) {
        if case .general(let addresses) = destination {
            self.destination = .general(addresses.filter { !$0.isIPv6 } + addresses.filter(\.isIPv6))
        } else {
            self.destination = destination
        }
        shared = constraints == PathConstraints() ? nil : SharedValue(constraints)
    }

    var isAddress: Bool {
        if case .address = destination { true } else { false }
    }
}

extension Target: CustomStringConvertible {
    package var description: String {
        switch destination {
        case .general: "the network at large"
        // A zone can contain any characters.
        case .address(let address): address.description.printable
        case .name(let name, _): name.printable
        }
    }
}

/// Creation of targets from the arguments of managers, with validation.
extension Target {
    /// Creates the target of general reachability.
    package init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        let addresses = try PathConstraints(options).counted(options.addressesAtLarge)
        guard !addresses.isEmpty else { throw .noAddressesAtLarge }
        try self.init(.general(addresses), options)
    }

    /// Creates the target of a host, given by its name or by an address literal.
    package init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if let address = IPAddress(host) {
            try self.init(address: address, options: options)
        } else {
            guard HostName.isValid(host) else { throw .invalidHost(host) }
            try self.init(.name(host, refreshInterval: options.nameRefreshInterval), options)
        }
    }

    /// Creates the target of an address. `0.0.0.0` and `::` select general reachability.
    package init(address: IPAddress, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        if address.isUnspecified {
            try self.init(options: options)
        } else if let family = try PathConstraints(options).family, address.wire.family != family {
            throw .otherFamily(address.description)
        } else if address.wire.needsZone, address.zone == nil {
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

/// The default addresses for general reachability.
///
/// Linux cannot look up a route to `0.0.0.0`: the kernel always answers that it is local. Therefore several real public
/// addresses are looked up, and the majority of one family decides. No packet is sent to them.
enum GeneralAddresses {
    /// The addresses of well-known name servers of different operators, distributed over the address space. If only
    /// half of the space is routed (`0.0.0.0/1`), or only one provider's network, there is no majority.
    static let all: [IPAddress] = [
        "1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33",
        "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1",
    ].compactMap { IPAddress($0) }
}

/// An address in a prefix reserved for documentation. On the internet no host has such an address, so a host that
/// answers intercepts connections. Some laboratory networks use these prefixes. Therefore the routes and the addresses
/// in use are checked.
package enum UnassignedAddress {
    /// The prefixes of RFC 5737, RFC 3849 and RFC 9637, in the sequence in which they are tried.
    private static let prefixes = [
        AddressPrefix(WireAddress(ipv4: 0xc000_0200), length: 24),
        AddressPrefix(WireAddress(ipv4: 0xc633_6400), length: 24),
        AddressPrefix(WireAddress(ipv4: 0xcb00_7100), length: 24),
        AddressPrefix(WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96), length: 32),
        AddressPrefix(WireAddress(family: .ipv6, bits: 0x3fff << 112), length: 20),
    ]

    /// The longest prefix that counts as a default route or as a part of one (0.0.0.0/1, 2000::/3). A route with a
    /// longer prefix leads to an existing network.
    private static let longestDefault = 3

    /// Returns an address that no host has, according to the routes and the addresses in use. Queries the kernel on the
    /// calling thread.
    ///
    /// - Parameters:
    ///   - path: The path of general reachability. Packets to the address must take it.
    ///   - manager: The manager of that path. Its interface and its firewall mark are used.
    ///   - used: The addresses of existing hosts.
    package static func choose(
        _ family: AddressFamily,
        along path: NetworkPath,
        of manager: NetworkReachabilityManager,
        used: some Sequence<WireAddress>
    ) -> IPAddress? {
        for prefix in prefixes where prefix.family == family && !used.contains(where: prefix.contains) {
            let address = WireAddress(family: family, bits: prefix.address.bits | 1)
            let query = RouteQuery(
                destination: address,
                source: family == .ipv4 ? path.source?.wire : nil,
                outputInterface: manager.options.interface == nil ? nil : path.interface?.index,
                mark: manager.options.firewallMark
            )
            let entry = try? manager.record.monitor.answering { evaluator throws(MissingAnswers) in
                try evaluator.answers.entry(query)
            }
            if let route = entry ?? nil, route.prefixLength <= Self.longestDefault { return IPAddress(address) }
        }
        return nil
    }

    /// Returns an address that no host has, for each family whose first address in `addresses` has a path. Queries the
    /// kernel on the calling thread.
    ///
    /// - Parameter makeManager: Creates the manager of one of the addresses.
    package static func choose(
        towards addresses: [IPAddress],
        _ makeManager: (IPAddress) -> NetworkReachabilityManager?
    ) -> [IPAddress] {
        AddressFamily.allCases.compactMap { family in
            guard let direction = addresses.first(where: { $0.wire.family == family }),
                let manager = makeManager(direction), case let path = manager.path, path.status.isReachable
            else { return nil }
            let own = try? manager.record.monitor.answering { evaluator throws(MissingAnswers) in
                try evaluator.answers.addresses()
            }
            let used = (own ?? []).map(\.address) + [path.gateway].compactMap { $0?.wire }
            return choose(family, along: path, of: manager, used: used)
        }
    }

    /// Returns whether two addresses are in the same documentation prefix.
    package static func isOfOneNetwork(_ one: IPAddress, _ other: IPAddress) -> Bool {
        prefixes.contains { $0.contains(one.wire) && $0.contains(other.wire) }
    }
}
