import LinuxPrimitives

/// What is watched: a destination and how packets to it are marked. Equal targets share one evaluation.
package struct Target: Hashable, Sendable {
    package enum Destination: Hashable, Sendable {
        /// The network at large, by a majority of these addresses in one of the two families, IPv4 first.
        case atLarge([IPAddress])
        case address(IPAddress)
        /// A host name, resolved again after so long while nothing changes.
        case name(String, refreshInterval: Duration)
    }

    package let destination: Destination

    var isAddress: Bool {
        if case .address = destination { true } else { false }
    }

    /// The firewall mark packets will carry (SO_MARK); 0 for none.
    package let mark: UInt32

    /// What packets will be bound to; nil for nothing.
    let interface: String?

    /// The family that counts; nil for both.
    let family: AddressFamily?

    package init(_ destination: Destination, mark: UInt32 = 0) {
        self.init(destination, mark: mark, interface: nil, family: nil)
    }

    /// Those of the family that counts.
    func counted(_ addresses: [IPAddress]) -> [IPAddress] {
        family == nil ? addresses : addresses.filter { $0.wire.family == family }
    }

    init(_ destination: Destination, mark: UInt32, interface: String?, family: AddressFamily?) {
        if case .atLarge(let addresses) = destination {
            self.destination = .atLarge(addresses.filter { !$0.isIPv6 } + addresses.filter(\.isIPv6))
        } else {
            self.destination = destination
        }
        self.mark = mark
        self.interface = interface
        self.family = family
    }
}

extension Target: CustomStringConvertible {
    package var description: String {
        switch destination {
        case .atLarge: "the network at large"
        // The zone may have any name.
        case .address(let address): address.description.printable
        case .name(let name, _): name
        }
    }
}
