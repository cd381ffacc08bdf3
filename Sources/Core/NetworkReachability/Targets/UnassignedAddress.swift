package import LinuxSupport
import Netlink

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
