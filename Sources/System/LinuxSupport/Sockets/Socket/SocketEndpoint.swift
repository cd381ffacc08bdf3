import Glibc

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

extension SocketEndpoint {
    /// A `sockaddr` of IPv4 or IPv6; nil for any other family, and for what is too short.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let family = bytes.load(UInt16.self, at: 0), let port = bytes.load(UInt16.self, at: 2) else { return nil }
        switch CInt(family) {
        case AF_INET:
            guard let address = WireAddress(bytes: Array(bytes.bytes(from: 4, length: 4))) else { return nil }
            self.init(address, port: UInt16(bigEndian: port))
        case AF_INET6:
            guard let address = WireAddress(bytes: Array(bytes.bytes(from: 8, length: 16))), address.family == .ipv6
            else { return nil }
            let scope = bytes.load(UInt32.self, at: 24) ?? 0
            self.init(address, port: UInt16(bigEndian: port), interfaceIndex: scope)
        default: return nil
        }
    }

    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    var socketAddress: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: UInt16(family.rawValue)) { bytes += $0 }
        withUnsafeBytes(of: port.bigEndian) { bytes += $0 }
        switch family {
        case .ipv4: bytes += address.bytes + [UInt8](repeating: 0, count: 8)
        case .ipv6:
            bytes += [0, 0, 0, 0] + address.bytes
            withUnsafeBytes(of: interfaceIndex) { bytes += $0 }
        }
        return bytes
    }

    /// Calls `body` with what `bind(2)` and `connect(2)` take.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // A place that is aligned as sockaddr_in6 is.
        var storage = sockaddr_in6()
        let bytes = socketAddress
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }
}
