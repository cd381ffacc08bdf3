import LinuxPrimitives
import Netlink

extension InterfaceDetails {
    /// Puts together what the kernel said in one go, ordered by index.
    static func all(
        _ links: [Link],
        _ addresses: [InterfaceAddress],
        _ routes: [Netlink.DefaultRoute],
        hardware: @escaping (Link) -> LinkHardware
    ) -> [InterfaceDetails] {
        // A dump that changes came into may name a link twice.
        let links = Dictionary(links.map { ($0.index, $0) }) { $1 }
        let ports = Dictionary(grouping: links.values.filter { $0.controllerIndex != nil }) { $0.controllerIndex ?? 0 }
        let lookup = LinkLookup(link: { links[$0] }, ports: { ports[$0] ?? [] }, hardware: hardware)
        let own = Dictionary(grouping: addresses, by: \.interface)
        return links.values.sorted { $0.index < $1.index }.map { link in
            let (entry, isDown) = (InterfaceTable.entry(for: link, using: lookup), !link.isUp)
            return InterfaceDetails(
                interface: entry.interface,
                kind: link.kind,
                state: State(link),
                hasCarrier: isDown ? nil : link.hasCarrier,
                isExpensive: entry.flags.contains(.isWWAN),
                mtu: link.mtu,
                addresses: AddressFamily.allCases.flatMap { family in
                    (own[link.index] ?? []).filter { $0.address.family == family }.map(Address.init)
                },
                defaultRoutes: routes.flatMap { DefaultRoute.legs(of: $0, through: link) }
            )
        }
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
    /// What of a route leaves through a link: of one with several legs, those.
    fileprivate static func legs(of route: Netlink.DefaultRoute, through link: Link) -> [Self] {
        route.legs.filter { $0.interface == link.index }.map { leg in
            Self(
                isIPv6: route.family == .ipv6,
                gateway: leg.gateway.map { IPAddress($0) },
                metric: route.metric,
                table: route.table
            )
        }
    }
}
