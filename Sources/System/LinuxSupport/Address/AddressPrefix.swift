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
    ///   - length: in bits; what is out of range becomes the nearest that is not.
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
