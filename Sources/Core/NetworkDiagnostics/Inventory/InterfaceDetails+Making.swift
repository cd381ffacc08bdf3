import LinuxSupport
import Netlink
import NetworkReachability

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
