package import NetworkReachability

/// An interface, and what is configured on it, at one moment.
package struct InterfaceDetails: Hashable, Sendable {
    /// Whether it carries packets, as far as it knows itself. The raw value is the name in JSON output.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It does: administratively up, with carrier.
        case up
        /// It waits for an outside event, such as Wi-Fi keys (RFC 2863 dormant).
        case dormant
        /// Administratively up, without carrier.
        case noCarrier
        /// Administratively down.
        case down
    }

    package var interface: NetworkInterface
    /// The driver's kind of a software device, such as `vlan`; nil for hardware (IFLA_INFO_KIND, `ip-link(8)`).
    package var kind: String?
    package var state: State
    /// Nil while it is down: only then there is nobody to tell (IFF_LOWER_UP).
    package var hasCarrier: Bool?
    /// Whether it is a modem, or runs over one.
    package var isExpensive: Bool
    /// The largest packet it takes, in bytes.
    package var mtu: UInt32
    /// In the kernel's order, IPv4 before IPv6.
    package var addresses: [Address]
    /// IPv4 before IPv6, then by table, the best first.
    package var defaultRoutes: [DefaultRoute]

    /// An address of the interface.
    package struct Address: Hashable, Sendable {
        package var address: IPAddress
        /// Bits of the prefix that is on the link.
        package var prefixLength: Int
        /// What keeps it from being an address like others: `tentative`, `dadfailed`, `deprecated`, as `ip-address(8)` has it.
        package var marks: [String]
    }

    /// A default route that leaves through the interface.
    package struct DefaultRoute: Hashable, Sendable {
        package var isIPv6: Bool
        /// The router; nil where everything is on the link itself.
        package var gateway: IPAddress?
        /// The lower, the better.
        package var metric: UInt32
        /// The routing table; 254 is `main`.
        package var table: UInt32
    }
}
