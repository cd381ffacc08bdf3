package import LinuxSupport
import Netlink

/// A watched destination with its constraints. Equal targets share one evaluation.
package struct Target: Hashable, Sendable {
    package enum Destination: Hashable, Sendable {
        /// The network at large, by a majority of these addresses in one of the two families, IPv4 first.
        case atLarge([IPAddress])
        case address(IPAddress)
        /// A host name, and the interval after which it is resolved again.
        case name(String, refreshInterval: Duration)
    }

    package let destination: Destination

    /// Nil for none, as with nearly all targets.
    private let shared: SharedValue<PathConstraints>?

    package var constraints: PathConstraints { shared?.value ?? PathConstraints() }

    package init(_ destination: Destination, _ constraints: PathConstraints = PathConstraints()) {
        if case .atLarge(let addresses) = destination {
            self.destination = .atLarge(addresses.filter { !$0.isIPv6 } + addresses.filter(\.isIPv6))
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
        case .atLarge: "the network at large"
        // The zone may have any name.
        case .address(let address): address.description.printable
        case .name(let name, _): name.printable
        }
    }
}

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

/// The network at large, as a set of public addresses that stand for it.
///
/// `0.0.0.0` cannot be looked up on Linux: the kernel always answers that it is local. So the question "is there a
/// network?" is asked for several real addresses, and the majority of one family decides. No packet is sent to them.
enum AtLarge {
    /// Operators of name servers known all over the world, spread over the whole address space: with half of it routed
    /// (`0.0.0.0/1` alone), or one provider's network, there is no majority.
    static let addresses: [IPAddress] = [
        "1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33",
        "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1",
    ].compactMap { IPAddress($0) }
}

/// An address of a documentation prefix. On the internet no host has one, so that a host that answers there intercepts. Some laboratories
/// use these prefixes, so the routes and the addresses in use decide.
package enum UnassignedAddress {
    /// RFC 5737, RFC 3849 and RFC 9637, in the sequence in which they are tried.
    private static let prefixes = [
        AddressPrefix(WireAddress(ipv4: 0xc000_0200), length: 24),
        AddressPrefix(WireAddress(ipv4: 0xc633_6400), length: 24),
        AddressPrefix(WireAddress(ipv4: 0xcb00_7100), length: 24),
        AddressPrefix(WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96), length: 32),
        AddressPrefix(WireAddress(family: .ipv6, bits: 0x3fff << 112), length: 20),
    ]

    /// A route with a longer prefix leads to a network that exists. Shorter ones are default routes, or parts of one (0.0.0.0/1, 2000::/3).
    private static let longestDefault = 3

    /// Returns an address that no host has, as far as the routes and the addresses in use show. Queries the kernel on the calling thread.
    ///
    /// - Parameters:
    ///   - path: The path to the network at large. Packets to the address must take it.
    ///   - manager: The manager of that path. Its interface and its firewall mark count.
    ///   - used: Addresses of hosts that exist.
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
            let entry = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
                try judge.answers.entry(query)
            }
            if let route = entry ?? nil, route.prefixLength <= Self.longestDefault { return IPAddress(address) }
        }
        return nil
    }

    /// Returns an address that no host has for each family in which the network at large has a path. Queries the kernel on the calling
    /// thread.
    ///
    /// - Parameter makeManager: Makes the manager of an address at large.
    package static func choose(
        towards addresses: [IPAddress],
        _ makeManager: (IPAddress) -> NetworkReachabilityManager?
    ) -> [IPAddress] {
        AddressFamily.allCases.compactMap { family in
            guard let direction = addresses.first(where: { $0.wire.family == family }),
                let manager = makeManager(direction), case let path = manager.path, path.status.isReachable
            else { return nil }
            let own = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
                try judge.answers.addresses()
            }
            let used = (own ?? []).map(\.address) + [path.gateway].compactMap { $0?.wire }
            return choose(family, along: path, of: manager, used: used)
        }
    }

    /// Whether two addresses are of one documentation prefix.
    package static func isOfOneNetwork(_ one: IPAddress, _ other: IPAddress) -> Bool {
        prefixes.contains { $0.contains(one.wire) && $0.contains(other.wire) }
    }
}
