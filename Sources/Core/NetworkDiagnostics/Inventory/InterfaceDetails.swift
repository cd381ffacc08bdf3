import LinuxSupport
import Netlink
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

extension Answers {
    /// Every interface with its addresses and those of `routes` that leave through it, ordered by index.
    mutating func interfaces(with routes: [Netlink.DefaultRoute]) throws(MissingAnswers) -> [InterfaceDetails] {
        // A dump that changes came into may name a link twice.
        let links = Dictionary(try links().map { ($0.index, $0) }) { $1 }
        let own = Dictionary(grouping: try addresses(), by: \.interface)
        var table = InterfaceTable()
        var all: [InterfaceDetails] = []
        try MissingAnswers.forEach(links.values.sorted { $0.index < $1.index }) { link throws(MissingAnswers) in
            let (entry, isDown) = (try table.entry(for: link, &self), !link.isUp)
            all.append(
                InterfaceDetails(
                    interface: entry.interface,
                    kind: link.kind,
                    state: InterfaceDetails.State(link),
                    hasCarrier: isDown ? nil : link.hasCarrier,
                    isExpensive: entry.flags.contains(.isWWAN),
                    mtu: link.mtu,
                    addresses: AddressFamily.allCases.flatMap { family in
                        (own[link.index] ?? []).filter { $0.address.family == family }
                            .map(InterfaceDetails.Address.init)
                    },
                    defaultRoutes: routes.flatMap { InterfaceDetails.DefaultRoute.all(of: $0, through: link) }
                )
            )
        }
        return all
    }
}

extension InterfaceDetails.State {
    fileprivate init(_ link: Link) {
        switch link.obstacle {
        case .linkDown?: self = .down
        case .noCarrier?: self = .noCarrier
        case .dormant?: self = .dormant
        default: self = .up
        }
    }
}

extension InterfaceDetails.Address {
    fileprivate init(_ address: InterfaceAddress) {
        let names: [(AddressFlags, String)] = [
            (.tentative, "tentative"), (.detectionFailed, "dadfailed"), (.deprecated, "deprecated"),
        ]
        self.init(
            address: IPAddress(address.address),
            prefixLength: Int(address.prefixLength),
            marks: names.filter { address.flags.contains($0.0) }.map(\.1)
        )
    }
}

extension InterfaceDetails.DefaultRoute {
    /// What of a route leaves through a link: of one with several next hops, those.
    fileprivate static func all(of route: Netlink.DefaultRoute, through link: Link) -> [Self] {
        route.nextHops.filter { $0.interface == link.index }.map { hop in
            Self(
                isIPv6: route.family == .ipv6,
                gateway: hop.gateway.map { IPAddress($0) },
                metric: route.metric,
                table: route.table
            )
        }
    }
}
