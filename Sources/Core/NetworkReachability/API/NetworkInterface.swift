public import Glibc
package import LinuxSupport

/// The interface that packets leave through.
public struct NetworkInterface: Hashable, Sendable, Codable {
    /// The number the kernel knows it by; a device that goes and comes back has a new one.
    public var index: UInt32

    /// Its name, for example `eth0`; a device may be renamed while it is up.
    public var name: String

    /// What kind of network it is on. For a VLAN, a bridge or a bond this is the type of what it runs over.
    public var type: InterfaceType

    /// What it runs over, from the next layer down to the last: the port of a bridge or bond, the parent of a VLAN or
    /// macvlan, the carrier of a tunnel. Empty for a plain device, and where the kernel does not tell.
    public var underlying: [NetworkInterface]

    package init(index: UInt32, name: String, type: InterfaceType, underlying: [NetworkInterface] = []) {
        self.index = index
        self.name = name
        self.type = type
        self.underlying = underlying
    }
}

extension NetworkInterface: CustomStringConvertible {
    /// The name, and the names of what it runs over: `br0/eth0`. The kernel takes nearly any name: what would steer a terminal is shown
    /// as `\u{1b}`.
    public var description: String {
        ([name] + underlying.map(\.name)).joined(separator: "/").printable
    }
}

/// What kind of network an interface is on.
public enum InterfaceType: String, Hashable, Sendable, CaseIterable, Codable {
    /// A wired ethernet device.
    case ethernet
    /// A Wi-Fi device (nl80211).
    case wiFi
    /// A modem: wireless wide area network, cellular.
    case wwan
    /// Software that stands for a wire: veth, netkit, a bridge of them.
    case wiredVirtual = "wired-virtual"
    /// A tunnel or VPN: WireGuard, tun, ppp, gre, vxlan and their kin.
    case tunnel
    /// The loopback interface.
    case loopback
    /// Anything else.
    case other
}

/// An IPv4 or IPv6 address, with the zone that link-local IPv6 ones need (RFC 4007).
///
/// Any other address may have a zone too: it then means the address as packets get to it that are bound to this interface or
/// VRF, as with `ping -I`.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is the IPv4 address it stands for, for that is where packets go.
public struct IPAddress: Hashable, Sendable {
    package let wire: WireAddress

    /// The name, an alternative name or the index of an interface; nil where none is needed.
    public let zone: String?

    /// - Parameter zone: The zone of an IPv6 address. IPv4 addresses have none.
    package init(_ wire: WireAddress, zone: String? = nil) {
        let wire = wire.unmapped
        self.init(wire, scope: wire.family == .ipv6 ? zone : nil)
    }

    private init(_ wire: WireAddress, scope zone: String?) {
        (self.wire, self.zone) = (wire.unmapped, zone)
    }

    /// Reads an address literal: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`, `192.0.2.1%red`. Brackets, ports, prefix lengths, shortened
    /// IPv4 forms and everything else are nil.
    public init?(_ text: String) {
        guard let literal = AddressLiteral(text) else { return nil }
        self.init(literal.wire, scope: literal.zone)
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { wire.family == .ipv6 }

    /// Whether the address is valid on one link only: 169.254.0.0/16 (RFC 3927), fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool { wire.isLinkLocal }

    /// Whether this is `0.0.0.0` or `::`, which stands for the network at large.
    public var isUnspecified: Bool { wire.isUnspecified }
}

extension IPAddress: CustomStringConvertible, LosslessStringConvertible {
    /// The canonical text (RFC 5952), with `%` and the zone where there is one, as it is: an interface may have a name that steers a
    /// terminal. Texts of the library that hold an address, such as ``NetworkPath/description``, show it escaped.
    public var description: String {
        zone.map { "\(wire)%\($0)" } ?? wire.description
    }
}

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
