public import Glibc
package import LinuxSupport

extension IPAddress {
    /// The address of an IPv4 socket address; its port does not matter.
    ///
    /// C counterpart: `sockaddr_in`, `ip(7)`.
    public init(_ address: sockaddr_in) {
        self.init(WireAddress(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)))
    }

    /// The address of an IPv6 socket address with its scope as zone; its port does not matter.
    ///
    /// C counterpart: `sockaddr_in6`, `ipv6(7)`.
    public init(_ address: sockaddr_in6) {
        self.init(WireAddress(address.sin6_addr), zone: address.sin6_scope_id == 0 ? nil : "\(address.sin6_scope_id)")
    }

    /// The address of any socket address; nil when its family is neither IPv4 nor IPv6.
    ///
    /// C counterpart: `sockaddr_storage`, `socket(7)`.
    public init?(_ address: sockaddr_storage) {
        guard let address = NameLookup.Address(address) else { return nil }
        self.init(address)
    }

    package init(_ address: NameLookup.Address) {
        self.init(address.address, zone: address.zone.map { "\($0)" })
    }
}
