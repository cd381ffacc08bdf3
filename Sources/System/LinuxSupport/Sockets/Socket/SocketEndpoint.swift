/// Where packets go to or come from: an address and, but for ICMP, a port.
///
/// C counterpart: `sockaddr_in`, `sockaddr_in6`.
package struct SocketEndpoint: Hashable, Sendable {
    package var address: WireAddress
    /// In the machine's order; 0 where there is none, or any.
    package var port: UInt16
    /// The interface an IPv6 link-local address belongs to (`sin6_scope_id`); 0 for none.
    package var interfaceIndex: UInt32

    package init(_ address: WireAddress, port: UInt16 = 0, interfaceIndex: UInt32 = 0) {
        self.address = address
        self.port = port
        self.interfaceIndex = interfaceIndex
    }

    package var family: AddressFamily { address.family }
}

extension SocketEndpoint: CustomStringConvertible {
    /// `192.0.2.1:53`, `[2001:db8::1]:53`, and the address alone without a port.
    package var description: String {
        let zone = interfaceIndex == 0 ? "" : "%\(interfaceIndex)"
        if port == 0 { return "\(address)\(zone)" }
        return family == .ipv4 ? "\(address):\(port)" : "[\(address)\(zone)]:\(port)"
    }
}
