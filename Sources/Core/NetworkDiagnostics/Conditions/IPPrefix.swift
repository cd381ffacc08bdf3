package import LinuxSupport
import NetworkReachability

/// All addresses of one family that begin with the same bits, as `192.0.2.0/24`.
package struct IPPrefix: Hashable, Sendable {
    package let wire: AddressPrefix

    /// Reads `192.0.2.0/24`, `2001:db8::/32`, an address alone for itself, and `default` for `0.0.0.0/0`. Bits beyond the length
    /// must be zero; everything else is nil.
    package init?(_ text: String) {
        let parts = text == "default" ? ["0.0.0.0", "0"] : text.split(at: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let address = WireAddress(String(first)) else { return nil }
        var length = address.family.bitCount
        if parts.count == 2 {
            guard let last = parts.last, let number = Int(last), (0...length).contains(number),
                last.allSatisfy(\.isNumber)
            else { return nil }
            length = number
        }
        wire = AddressPrefix(address, length: length)
        guard wire.address == address else { return nil }
    }

    /// Some of its addresses, of which at least one is subject to a route that covers the prefix, unless there are narrower
    /// routes to all of them: its middle first, then others that are far apart. In prefixes that begin with 0 the middle is
    /// an ordinary address.
    var samples: [IPAddress] {
        let rest = UInt128(wire.family.bitCount - wire.length)
        let offsets: [UInt128]
        if rest < 4 {
            offsets = Array(0..<(1 << rest))
        } else {
            let (half, quarter): (UInt128, UInt128) = (1 << (rest - 1), 1 << (rest - 2))
            offsets = [half + 1, quarter + 1, half + quarter + 1, 1, half &+ half &- 2]
        }
        return offsets.map { IPAddress(WireAddress(family: wire.family, bits: wire.address.bits | $0)) }
    }
}

extension IPPrefix: CustomStringConvertible {
    package var description: String { wire.description }
}
