import Glibc

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
