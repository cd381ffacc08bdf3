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

    /// True if the first `length` bits are those of `prefix`; always false across families.
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

    /// True if the address is ambiguous without an interface: link-local IPv6.
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

/// All addresses of one family that begin with the same bits, as a route's destination is written: `192.0.2.0/24`.
///
/// C counterpart: RTA_DST with `rtm_dst_len` of `<linux/rtnetlink.h>`.
package struct AddressPrefix: Hashable, Sendable {
    /// The first of the addresses; the bits beyond `length` are zero.
    package let address: WireAddress

    /// How many bits are the same: 0 to 32, or 0 to 128.
    package let length: Int

    /// - Parameters:
    ///   - address: any of the addresses; bits beyond `length` are ignored.
    ///   - length: The length in bits, clamped to the valid range.
    package init(_ address: WireAddress, length: Int) {
        let family = address.family
        let length = min(max(length, 0), family.bitCount)
        let rest = UInt128(family.bitCount - length)
        // A shift by all 128 bits leaves zero.
        let bits = (address.bits >> rest) << rest
        self.address = WireAddress(family: family, bits: bits)
        self.length = length
    }

    /// One address alone: /32 or /128.
    package init(host address: WireAddress) {
        self.address = address
        length = address.family.bitCount
    }

    package var family: AddressFamily { address.family }

    /// Whether `address` is one of these.
    package func contains(_ address: WireAddress) -> Bool {
        address.isCovered(by: self.address, length: length)
    }

    /// Whether every address of `other` is one of these.
    package func covers(_ other: AddressPrefix) -> Bool {
        length <= other.length && contains(other.address)
    }

    /// Whether any address belongs to both; then one covers the other.
    package func overlaps(_ other: AddressPrefix) -> Bool {
        covers(other) || other.covers(self)
    }
}

extension AddressPrefix: CustomStringConvertible {
    package var description: String { "\(address)/\(length)" }
}

extension AddressPrefix: Comparable {
    /// By family, then by the first address, the wider first; what one prefix covers follows it at once.
    package static func < (one: AddressPrefix, other: AddressPrefix) -> Bool {
        if one.family != other.family { return one.family.rawValue < other.family.rawValue }
        if one.address.bits != other.address.bits { return one.address.bits < other.address.bits }
        return one.length < other.length
    }
}

extension WireAddress {
    /// The address moved to the upper end of 128 bits, so that both families are read from the same side.
    package var leadingBits: UInt128 { bits << UInt128(128 - family.bitCount) }
}

extension AddressPrefix {
    /// The bits moved to the upper end of 128.
    package var leadingBits: UInt128 { address.leadingBits }

    /// The narrowest prefix of the same family that covers both.
    package func joined(with other: AddressPrefix) -> AddressPrefix {
        AddressPrefix(address, length: commonLength(with: other))
    }

    /// How many bits both begin with.
    package func commonLength(with other: AddressPrefix) -> Int {
        min(length, other.length, (leadingBits ^ other.leadingBits).leadingZeroBitCount)
    }
}

/// An address as people write it, with its zone (RFC 4007): `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`, `192.0.2.1%red`.
package struct AddressLiteral: Hashable, Sendable {
    /// The address; an IPv4-mapped IPv6 one is the IPv4 address it stands for.
    package let wire: WireAddress

    /// The name or the index of an interface.
    package let zone: String?

    /// Reads a literal. Brackets, ports, prefix lengths, shortened IPv4 forms and everything else are nil.
    package init?(_ text: String) {
        let percent = text.unicodeScalars.firstIndex(of: "%") ?? text.endIndex
        let zone = text[percent...].dropFirst()
        guard let wire = WireAddress(String(text[..<percent])),
            percent == text.endIndex || InterfaceName.isValid(zone)
        else { return nil }
        self.wire = wire.unmapped
        self.zone = percent == text.endIndex ? nil : String(zone)
    }
}

/// The grammar of what names an interface: its name or its index.
package enum InterfaceName {
    /// The longest name of an interface, in bytes (IFNAMSIZ).
    package static let longestName = 15

    /// Whether `text` may be one: 1 to 127 bytes, without `/`, `%` and blanks. Names are shorter, alternative names may be so long
    /// (ALTIFNAMSIZ, `ip-link(8)`).
    package static func isValid(_ text: some StringProtocol) -> Bool {
        (1...127).contains(text.utf8.count) && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }
}
