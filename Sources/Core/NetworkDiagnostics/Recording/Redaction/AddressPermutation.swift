package import LinuxPrimitives
import Netlink

/// Replaces addresses one for one, so that two of them have as many first bits in common afterwards as before: routes still
/// match what they matched. Special ranges stay what they are.
///
/// Each bit is turned or not by a keyed hash of the bits before it, as Crypto-PAn does (Xu, Fan, Ammar and Moon, 2002). Bits
/// that lead to a special range are never turned, so addresses outside stay outside.
package struct AddressPermutation: Sendable {
    /// Addresses with a meaning of their own.
    private struct Special {
        let prefix: AddressPrefix
        /// How many bits of such an address are kept.
        let kept: Int

        init(_ address: String, _ length: Int, keeping kept: Int? = nil) {
            let family: AddressFamily = address.contains(":") ? .ipv6 : .ipv4
            let address = WireAddress(address) ?? WireAddress(family: family, bits: 0)
            prefix = AddressPrefix(address, length: length)
            self.kept = kept ?? length
        }
    }

    private static let special: [Special] = [
        // This host, loopback, broadcast and the multicast groups of a link are what they are.
        Special("0.0.0.0", 8, keeping: 32), Special("127.0.0.0", 8, keeping: 32),
        Special("224.0.0.0", 24, keeping: 32), Special("255.255.255.255", 32),
        // Private use, shared with a carrier's translator, link-local, tests, documentation, multicast.
        Special("10.0.0.0", 8), Special("172.16.0.0", 12), Special("192.168.0.0", 16), Special("100.64.0.0", 10),
        Special("169.254.0.0", 16), Special("198.18.0.0", 15), Special("192.0.2.0", 24), Special("198.51.100.0", 24),
        Special("203.0.113.0", 24), Special("224.0.0.0", 4), Special("240.0.0.0", 4),
        Special("::", 127, keeping: 128), Special("ff02::", 112, keeping: 128), Special("::ffff:0:0", 96),
        Special("64:ff9b::", 96), Special("2000::", 3), Special("2001:db8::", 32), Special("2002::", 16),
        Special("fc00::", 8), Special("fd00::", 8), Special("fe80::", 10, keeping: 64),
        Special("ff02::1:ff00:0", 104), Special("ff00::", 8, keeping: 16),
    ]

    private let hash: SipHash
    /// What was replaced lately: the same few addresses come again and again.
    private let known: Locked<[WireAddress: WireAddress]> = Locked([:])
    private static let knownLimit = 4096

    package init(key: (UInt64, UInt64)) {
        hash = SipHash(key)
    }

    /// What stands in for an address.
    package func callAsFunction(_ address: WireAddress) -> WireAddress {
        if let known = known.withLock({ $0[address] }) { return known }
        let other = replacement(for: address)
        known.withLock { known in
            if known.count >= Self.knownLimit { known.removeAll() }
            known[address] = other
        }
        return other
    }

    private func replacement(for address: WireAddress) -> WireAddress {
        let width = address.family.bitCount
        let kept = Self.special.filter { $0.prefix.contains(address) }.map(\.kept).max() ?? 0
        let leading = Self.special.map(\.prefix).filter { $0.family == address.family && !$0.contains(address) }
            .map { $0.commonLength(with: AddressPrefix(host: address)) + 1 }
        let first = max(kept, leading.max() ?? 0)
        var bits = address.bits
        for position in first..<max(first, width) {
            let before = AddressPrefix(address, length: position).address
            let turns = hash.hash([address.family.rawValue, UInt8(position)] + before.bytes) & 1 == 1
            if turns { bits ^= 1 << UInt128(width - 1 - position) }
        }
        return WireAddress(family: address.family, bits: bits)
    }
}
