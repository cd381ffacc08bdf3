import Glibc

/// The two address families that routes are looked up for.
///
/// C counterpart: `AF_INET`, `AF_INET6`.
package enum AddressFamily: UInt8, Hashable, Sendable, CaseIterable {
    case ipv4 = 2
    case ipv6 = 10

    /// Said here, for the compiler's own is called, through a table, wherever another module compares.
    @inlinable package static func == (one: AddressFamily, other: AddressFamily) -> Bool {
        switch (one, other) {
        case (.ipv4, .ipv4), (.ipv6, .ipv6): true
        default: false
        }
    }

    /// Bytes of an address.
    package var byteCount: Int { self == .ipv4 ? 4 : 16 }

    /// Bits of an address.
    package var bitCount: Int { byteCount * 8 }
}
