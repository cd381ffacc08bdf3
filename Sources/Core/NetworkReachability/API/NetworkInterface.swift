public import Glibc
package import LinuxSupport

/// A network interface that packets leave through.
public struct NetworkInterface: Hashable, Sendable, Codable {
    /// The kernel's interface index. A device that is removed and added again has a new index.
    public var index: UInt32

    /// The name, for example `eth0`. A device can be renamed at any time.
    public var name: String

    /// The type of the interface. A VLAN, bridge or bond has the type of the device below it.
    public var type: InterfaceType

    /// The lower interfaces, from the next layer to the last: the port of a bridge or bond, the parent of a VLAN or
    /// macvlan, the interface that carries a tunnel. Empty for a physical device, and if the kernel does not report the
    /// lower interface.
    public var underlying: [NetworkInterface]

    package init(index: UInt32, name: String, type: InterfaceType, underlying: [NetworkInterface] = []) {
        self.index = index
        self.name = name
        self.type = type
        self.underlying = underlying
    }
}

extension NetworkInterface: CustomStringConvertible {
    /// The name, followed by the names of the lower interfaces, for example `br0/eth0`. Control characters are escaped,
    /// for example as `\u{1b}`, because the kernel accepts almost any name.
    public var description: String {
        ([name] + underlying.map(\.name)).joined(separator: "/").printable
    }
}

/// The type of a network interface.
public enum InterfaceType: String, Hashable, Sendable, CaseIterable, Codable {
    /// A wired ethernet device.
    case ethernet
    /// A Wi-Fi device (nl80211).
    case wiFi
    /// A cellular modem (wireless wide area network).
    case wwan
    /// A virtual wired device: veth, netkit, or a bridge whose ports are such devices.
    case wiredVirtual = "wired-virtual"
    /// A tunnel or VPN, for example WireGuard, tun, ppp, gre or vxlan.
    case tunnel
    /// The loopback interface.
    case loopback
    /// Any other type.
    case other
}

/// An IPv4 or IPv6 address with an optional zone (RFC 4007).
///
/// Link-local IPv6 addresses require a zone. For any other address, a zone selects the interface or VRF that packets
/// are bound to, as `ping -I` does.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is converted to the IPv4 address, because packets are sent to that
/// address.
public struct IPAddress: Hashable, Sendable {
    package let wire: WireAddress

    /// The name, alternative name or index of an interface; nil if the address has no zone.
    public let zone: String?

    /// Creates an address from its binary form.
    ///
    /// - Parameter zone: The zone of an IPv6 address. Ignored for IPv4.
    package init(_ wire: WireAddress, zone: String? = nil) {
        let wire = wire.unmapped
        self.init(wire, scope: wire.family == .ipv6 ? zone : nil)
    }

    private init(_ wire: WireAddress, scope zone: String?) {
        (self.wire, self.zone) = (wire.unmapped, zone)
    }

    /// Parses an address literal: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`, `192.0.2.1%red`. The result is nil for
    /// any other text, for example with brackets, a port, a prefix length or a shortened IPv4 form.
    public init?(_ text: String) {
        guard let literal = AddressLiteral(text) else { return nil }
        self.init(literal.wire, scope: literal.zone)
    }

    /// A Boolean value that indicates whether this is an IPv6 address.
    public var isIPv6: Bool { wire.family == .ipv6 }

    /// A Boolean value that indicates whether the address is link-local: 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC
    /// 4291).
    public var isLinkLocal: Bool { wire.isLinkLocal }

    /// A Boolean value that indicates whether the address is `0.0.0.0` or `::`, which selects general reachability.
    public var isUnspecified: Bool { wire.isUnspecified }
}

extension IPAddress: CustomStringConvertible, LosslessStringConvertible {
    /// The canonical text (RFC 5952), followed by `%` and the zone if there is one. The zone is not escaped, and an
    /// interface name may contain terminal control characters. Other texts of the library, such as
    /// ``NetworkPath/description``, escape it.
    public var description: String {
        zone.map { "\(wire)%\($0)" } ?? wire.description
    }
}

extension IPAddress {
    /// Creates the address of an IPv4 socket address. The port is ignored.
    ///
    /// C counterpart: `sockaddr_in`, `ip(7)`.
    public init(_ address: sockaddr_in) {
        self.init(WireAddress(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)))
    }

    /// Creates the address of an IPv6 socket address, with its scope as the zone. The port is ignored.
    ///
    /// C counterpart: `sockaddr_in6`, `ipv6(7)`.
    public init(_ address: sockaddr_in6) {
        self.init(WireAddress(address.sin6_addr), zone: address.sin6_scope_id == 0 ? nil : "\(address.sin6_scope_id)")
    }

    /// Creates the address of a socket address; nil if its family is neither IPv4 nor IPv6. The port is ignored.
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
