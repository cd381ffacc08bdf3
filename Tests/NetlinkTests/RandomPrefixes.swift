@testable import LinuxSupport
@testable import Netlink

/// Addresses and prefixes by chance that can be repeated: some alone, some close together, some at the edges.
struct RandomPrefixes {
    var generator: DecoderMutator
    /// Where addresses are close to.
    private var neighbourhoods: [WireAddress] = []

    init(seed: UInt64) {
        generator = DecoderMutator(seed: seed)
        neighbourhoods = (0..<8).map { _ in anyAddress() }
    }

    mutating func address() -> WireAddress {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return edge()
        case 1...3: return anyAddress()
        default:
            let near = neighbourhoods[Int.random(in: 0..<neighbourhoods.count, using: &generator)]
            return flipped(near)
        }
    }

    mutating func hosts(_ count: Int) -> [AddressPrefix] {
        (0..<count).map { _ in AddressPrefix(host: address()) }
    }

    /// Hosts and wider prefixes.
    mutating func prefixes(_ count: Int) -> [AddressPrefix] {
        (0..<count).map { _ in Bool.random(using: &generator) ? AddressPrefix(host: address()) : prefix(of: address()) }
    }

    /// A prefix of any length around an address, or of one that has often been forgotten.
    mutating func prefix(of address: WireAddress) -> AddressPrefix {
        let bits = address.family.bitCount
        let lengths = [0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128].filter { $0 <= bits }
        let length =
            Bool.random(using: &generator)
            ? Int.random(in: 0...bits, using: &generator)
            : lengths[Int.random(in: 0..<lengths.count, using: &generator)]
        return AddressPrefix(address, length: length)
    }

    /// A route that is about one of `prefixes`, nearly about it, or about something else.
    mutating func route(near prefixes: [AddressPrefix]) -> AddressPrefix {
        let near = prefixes.randomElement(using: &generator)?.address ?? address()
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return prefix(of: address())
        case 1: return prefix(of: near)
        default: return prefix(of: flipped(near))
        }
    }

    private mutating func anyAddress() -> WireAddress {
        let family: AddressFamily = Bool.random(using: &generator) ? .ipv4 : .ipv6
        let bits = UInt128.random(in: 0 ... .max, using: &generator)
        return WireAddress(family: family, bits: bits >> UInt128(128 - family.bitCount))
    }

    private mutating func edge() -> WireAddress {
        let family: AddressFamily = Bool.random(using: &generator) ? .ipv4 : .ipv6
        let all = UInt128.max >> UInt128(128 - family.bitCount)
        let words = [0, 1, all, all - 1, all / 2, all / 2 + 1, 1 << UInt128(family.bitCount / 2)]
        return WireAddress(family: family, bits: words[Int.random(in: 0..<words.count, using: &generator)])
    }

    /// The same but for one bit.
    private mutating func flipped(_ address: WireAddress) -> WireAddress {
        let bit = UInt128(Int.random(in: 0..<address.family.bitCount, using: &generator))
        return WireAddress(family: address.family, bits: address.bits ^ 1 << bit)
    }
}
