package import Glibc

extension NameLookup.Address {
    /// The address of a socket address of any family; nil when it is neither IPv4 nor IPv6.
    package init?(_ storage: sockaddr_storage) {
        var storage = storage
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Self(UnsafePointer($0)) }
        }
        guard let address else { return nil }
        self = address
    }
}

extension WireAddress {
    package init(_ address: in6_addr) {
        let bits = withUnsafeBytes(of: address) { bytes in bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } }
        self.init(family: .ipv6, bits: bits)
    }
}
