package import Glibc

/// An IPv4 or IPv6 address as it stands on the wire, without a zone.
///
/// C counterpart: `in_addr`, `in6_addr`; text as `inet_pton(3)` and `inet_ntop(3)` have it.
package struct WireAddress: Hashable, Sendable {
    // Two halves take less room than a number of 128 bits, which is aligned to 16 bytes; there are very many of these.
    private let high: UInt64
    private let low: UInt64
    package let family: AddressFamily

    package init(family: AddressFamily, bits: UInt128) {
        self.family = family
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    /// The address as a number whose most significant bit is the first on the wire.
    package var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    package init(ipv4 bits: UInt32) {
        self.init(family: .ipv4, bits: UInt128(bits))
    }

    /// Four or sixteen bytes in network order; any other count is nil.
    package init?(bytes: some Collection<UInt8>) {
        let family: AddressFamily
        switch bytes.count {
        case 4: family = .ipv4
        case 16: family = .ipv6
        default: return nil
        }
        self.init(family: family, bits: bytes.reduce(into: 0) { $0 = $0 << 8 | UInt128($1) })
    }

    /// Four or sixteen bytes in network order, straight from a message.
    init?(bytes: UnsafeRawBufferPointer) {
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        case 16: self.init(family: .ipv6, bits: UInt128(bigEndian: bytes.loadUnaligned(as: UInt128.self)))
        default: return nil
        }
    }

    /// Dotted decimal of four parts, or RFC 4291 text.
    package init?(_ text: String) {
        // C would take what stands before it.
        if text.utf8.contains(0) { return nil }
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(ipv4: UInt32(bigEndian: ipv4.s_addr))
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            guard let address = withUnsafeBytes(of: &ipv6, { WireAddress(bytes: $0) }) else { return nil }
            self = address
        } else {
            return nil
        }
    }

    /// The bytes in network order.
    package var bytes: [UInt8] {
        (0..<family.byteCount).map { UInt8(truncatingIfNeeded: bits >> UInt128(family.bitCount - 8 - 8 * $0)) }
    }

    /// Whether the first `length` bits are those of `prefix`; always false across families.
    package func isCovered(by prefix: WireAddress, length: Int) -> Bool {
        guard family == prefix.family else { return false }
        let shift = UInt128(family.bitCount - min(length, family.bitCount))
        return shift == UInt128(family.bitCount) || bits >> shift == prefix.bits >> shift
    }
}

extension WireAddress {
    package static let ipv6Loopback = WireAddress(family: .ipv6, bits: 1)

    /// `0.0.0.0` or `::`.
    package var isUnspecified: Bool { bits == 0 }

    /// 127.0.0.0/8 or `::1` (RFC 1122, RFC 4291).
    package var isLoopback: Bool { family == .ipv4 ? bits >> 24 == 127 : bits == 1 }

    /// 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291).
    package var isLinkLocal: Bool { family == .ipv4 ? bits >> 16 == 0xa9fe : bits >> 118 == 0x3fa }

    /// Whether it says nothing without the interface it is meant on: link-local IPv6.
    package var needsZone: Bool { family == .ipv6 && isLinkLocal }

    /// 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291).
    package var isMulticast: Bool { family == .ipv4 ? bits >> 28 == 0xe : bits >> 120 == 0xff }

    /// `::ffff:a.b.c.d` becomes the IPv4 address that packets to it are sent to; every other address is itself.
    package var unmapped: WireAddress {
        family == .ipv6 && bits >> 32 == 0xffff ? WireAddress(ipv4: UInt32(truncatingIfNeeded: bits)) : self
    }
}

extension WireAddress: CustomStringConvertible {
    package var description: String {
        if family == .ipv4 { return dotted }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(CInt(family.rawValue), bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private var dotted: String {
        String(unsafeUninitializedCapacity: 15) { memory in
            var text = TextBuilder(UnsafeMutableRawBufferPointer(memory))
            for shift in stride(from: 24, through: 0, by: -8) {
                if text.count > 0 { text.append(".") }
                text.append(UInt32(low >> UInt64(shift) & 255))
            }
            return text.count
        }
    }
}

extension WireAddress {
    package init(_ address: in6_addr) {
        let bits = withUnsafeBytes(of: address) { bytes in bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } }
        self.init(family: .ipv6, bits: bits)
    }
}

/// The two address families that routes are looked up for.
///
/// C counterpart: `AF_INET`, `AF_INET6`.
package enum AddressFamily: UInt8, Hashable, Sendable, CaseIterable {
    case ipv4 = 2
    case ipv6 = 10

    /// Bytes of an address.
    package var byteCount: Int { self == .ipv4 ? 4 : 16 }

    /// Bits of an address.
    package var bitCount: Int { byteCount * 8 }
}
