import LinuxPrimitives

/// The addresses that share their first `length` bits with `address`, whose other bits are kept as given.
struct Prefix: Hashable, Sendable {
    var address: WireAddress
    var length: Int

    init(_ address: WireAddress, length: Int) {
        self.address = address
        self.length = length
    }

    /// `10.0.0.2/24`, `10.0.0.2` (all bits) or `default`, which needs the family given.
    init(parsing text: String, family: AddressFamily? = nil) throws(Refusal) {
        if text == "default" {
            self.init(WireAddress(family: family ?? .ipv4, bits: 0), length: 0)
            return
        }
        let parts = text.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = WireAddress(String(parts[0])) else {
            throw Refusal("\"\(text)\" is neither an address, a prefix nor \"default\"")
        }
        self.init(address, length: address.family.bitCount)
        if parts.count == 2 {
            guard let length = Int(parts[1]), (0...address.family.bitCount).contains(length) else {
                throw Refusal("\"\(text)\" has no usable prefix length")
            }
            self.length = length
        }
    }

    var family: AddressFamily { address.family }

    /// The same prefix with every host bit zero.
    var network: Prefix {
        let hostBits = UInt128(family.bitCount - length)
        let mask: UInt128 = hostBits >= 128 ? .max : (1 << hostBits) - 1
        return Prefix(WireAddress(family: family, bits: address.bits & ~mask), length: length)
    }

    /// The last address, which IPv4 broadcasts to.
    var broadcast: WireAddress {
        WireAddress(family: family, bits: network.address.bits | ((1 << UInt128(family.bitCount - length)) - 1))
    }

    func covers(_ other: WireAddress) -> Bool {
        other.isCovered(by: address, length: length)
    }
}

/// What Linux would refuse, or what nobody could mean: the text says why.
struct Refusal: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
