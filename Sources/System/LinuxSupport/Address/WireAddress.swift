package import Glibc

/// An IPv4 or IPv6 address in the form of a packet, without a zone.
///
/// C counterpart: `in_addr`, `in6_addr`; the text form is that of `inet_pton(3)` and `inet_ntop(3)`.
package struct WireAddress: Hashable, Sendable {
    // Two 64-bit halves take less memory than one UInt128, which is aligned to 16 bytes. There may be very many
    // addresses.
    private let high: UInt64
    private let low: UInt64
    package let family: AddressFamily

    package init(family: AddressFamily, bits: UInt128) {
        self.family = family
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    /// The address as a number. The most significant bit is the first bit in a packet.
    package var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    package init(ipv4 bits: UInt32) {
        self.init(family: .ipv4, bits: UInt128(bits))
    }

    /// Creates an address from 4 or 16 bytes in network order. Returns nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        let family: AddressFamily
        switch bytes.count {
        case 4: family = .ipv4
        case 16: family = .ipv6
        default: return nil
        }
        self.init(family: family, bits: bytes.reduce(into: 0) { $0 = $0 << 8 | UInt128($1) })
    }

    /// Creates an address from 4 or 16 bytes in network order, in the memory of a message.
    init?(bytes: UnsafeRawBufferPointer) {
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        case 16: self.init(family: .ipv6, bits: UInt128(bigEndian: bytes.loadUnaligned(as: UInt128.self)))
        default: return nil
        }
    }

    /// Reads an IPv4 address in dotted decimal of four parts, or an IPv6 address (RFC 4291).
    package init?(_ text: String) {
        // The C function would stop at a zero byte.
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

    /// True if the first `length` bits equal those of `prefix`. Always false across families.
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

    /// True if the address is ambiguous without an interface. Only link-local IPv6 addresses are.
    package var needsZone: Bool { family == .ipv6 && isLinkLocal }

    /// 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291).
    package var isMulticast: Bool { family == .ipv4 ? bits >> 28 == 0xe : bits >> 120 == 0xff }

    /// The IPv4 address of an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`). Any other address is returned unchanged.
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

/// An address family of IP.
///
/// C counterpart: `AF_INET`, `AF_INET6`.
package enum AddressFamily: UInt8, Hashable, Sendable, CaseIterable {
    case ipv4 = 2
    case ipv6 = 10

    /// The number of bytes of an address.
    package var byteCount: Int { self == .ipv4 ? 4 : 16 }

    /// The number of bits of an address.
    package var bitCount: Int { byteCount * 8 }
}

/// An address prefix, such as the destination `192.0.2.0/24` of a route.
///
/// C counterpart: RTA_DST with `rtm_dst_len` of `<linux/rtnetlink.h>`.
package struct AddressPrefix: Hashable, Sendable {
    /// The first address of the prefix. The bits beyond `length` are zero.
    package let address: WireAddress

    /// The prefix length in bits: 0 to 32 for IPv4, 0 to 128 for IPv6.
    package let length: Int

    /// - Parameters:
    ///   - address: Any address of the prefix. The bits beyond `length` are ignored.
    ///   - length: The length in bits, clamped to the valid range.
    package init(_ address: WireAddress, length: Int) {
        let family = address.family
        let length = min(max(length, 0), family.bitCount)
        let rest = UInt128(family.bitCount - length)
        // A shift by 128 bits results in zero.
        let bits = (address.bits >> rest) << rest
        self.address = WireAddress(family: family, bits: bits)
        self.length = length
    }

    /// Creates the prefix of a single address, /32 or /128.
    package init(host address: WireAddress) {
        self.address = address
        length = address.family.bitCount
    }

    package var family: AddressFamily { address.family }

    /// True if the prefix contains `address`.
    package func contains(_ address: WireAddress) -> Bool {
        address.isCovered(by: self.address, length: length)
    }

    /// True if the prefix contains every address of `other`.
    package func covers(_ other: AddressPrefix) -> Bool {
        length <= other.length && contains(other.address)
    }

    /// True if the prefixes have a common address. One of them then covers the other.
    package func overlaps(_ other: AddressPrefix) -> Bool {
        covers(other) || other.covers(self)
    }
}

extension AddressPrefix: CustomStringConvertible {
    package var description: String { "\(address)/\(length)" }
}

extension AddressPrefix: Comparable {
    /// Orders prefixes by family, then by the first address, then by length. A prefix immediately precedes the prefixes
    /// that it covers.
    package static func < (one: AddressPrefix, other: AddressPrefix) -> Bool {
        if one.family != other.family { return one.family.rawValue < other.family.rawValue }
        if one.address.bits != other.address.bits { return one.address.bits < other.address.bits }
        return one.length < other.length
    }
}

extension WireAddress {
    /// The address shifted to the upper end of 128 bits, so that both families begin at the same bit.
    package var leadingBits: UInt128 { bits << UInt128(128 - family.bitCount) }
}

extension AddressPrefix {
    /// The bits of the first address, shifted to the upper end of 128 bits.
    package var leadingBits: UInt128 { address.leadingBits }

    /// Returns the longest prefix of the same family that covers both.
    package func joined(with other: AddressPrefix) -> AddressPrefix {
        AddressPrefix(address, length: commonLength(with: other))
    }

    /// Returns the number of leading bits that both prefixes have in common.
    package func commonLength(with other: AddressPrefix) -> Int {
        min(length, other.length, (leadingBits ^ other.leadingBits).leadingZeroBitCount)
    }
}

/// An address with an optional zone in text form (RFC 4007): `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`,
/// `192.0.2.1%red`.
package struct AddressLiteral: Hashable, Sendable {
    /// The address. An IPv4-mapped IPv6 address is converted to IPv4.
    package let wire: WireAddress

    /// The zone: the name or the index of an interface; nil without one.
    package let zone: String?

    /// Reads a literal. Returns nil for brackets, ports, prefix lengths, shortened IPv4 forms and any other text.
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

/// The grammar of interface names and indexes.
package enum InterfaceName {
    /// The maximum length of an interface name in bytes (IFNAMSIZ - 1).
    package static let longestName = 15

    /// Whether `text` may identify an interface: 1 to 127 bytes without `/`, `%` and white space. Alternative names
    /// (ALTIFNAMSIZ, `ip-link(8)`) may have 127 bytes, ordinary names 15.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        (1...127).contains(text.utf8.count) && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }
}
