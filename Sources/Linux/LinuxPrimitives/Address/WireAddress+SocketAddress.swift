package import Glibc

extension WireAddress {
    package init(_ address: in6_addr) {
        let bits = withUnsafeBytes(of: address) { bytes in bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } }
        self.init(family: .ipv6, bits: bits)
    }
}
