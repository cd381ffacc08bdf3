import LinuxSupport

/// What is watched: a destination, and what its paths are bound to. Equal targets share one evaluation.
package struct Target: Hashable, Sendable {
    package enum Destination: Hashable, Sendable {
        /// The network at large, by a majority of these addresses in one of the two families, IPv4 first.
        case atLarge([IPAddress])
        case address(IPAddress)
        /// A host name, resolved again after so long while nothing changes.
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
