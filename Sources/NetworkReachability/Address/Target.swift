/// What is watched: a destination and how packets to it are marked. Equal targets share one evaluation.
package struct Target: Hashable, Sendable {
    package enum Destination: Hashable, Sendable {
        /// The network at large, by a majority of these addresses in one of the two families.
        case atLarge([IPAddress])
        case address(IPAddress)
        case name(String)
    }

    package let destination: Destination

    /// The firewall mark packets will carry (SO_MARK); 0 for none.
    package let mark: UInt32

    /// How often a name is resolved again while nothing changes; zero for every other destination.
    package let refreshInterval: Duration

    package init(_ destination: Destination, mark: UInt32 = 0, refreshInterval: Duration = .seconds(300)) {
        self.destination = destination
        self.mark = mark
        self.refreshInterval = if case .name = destination { refreshInterval } else { .zero }
    }
}

extension Target: CustomStringConvertible {
    package var description: String {
        switch destination {
        case .atLarge: "the network at large"
        case .address(let address): address.description
        case .name(let name): name
        }
    }
}
