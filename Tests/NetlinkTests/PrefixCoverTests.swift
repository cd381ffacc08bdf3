import Testing

@testable import LinuxSupport
@testable import Netlink

/// Covers of sorted addresses with a limited number of prefixes.
@Suite struct PrefixCoverTests {
    @Test(arguments: 0..<20)
    func `a cover contains all addresses with at most the given number of prefixes`(seed: Int) {
        var random = RandomPrefixes(seed: UInt64(seed))
        let addresses = Set((0..<300).map { _ in random.address() })
        let hosts = addresses.map(AddressPrefix.init(host:)).sorted()
        var coarsest = 128
        for limit in [1000, hosts.count, 250, 100, 30, 5, 2] {
            let cover = PrefixCover(hosts).widened(toCount: limit).prefixes
            #expect(cover.count == min(limit, hosts.count))
            #expect(cover == cover.sorted())
            #expect(zip(cover, cover.dropFirst()).allSatisfy { !$0.overlaps($1) })
            for address in addresses { #expect(cover.count { $0.contains(address) } == 1) }
            // A prefix is not wider than the distance between the ends of its content requires.
            for prefix in cover {
                let inside = hosts.filter(prefix.covers)
                guard let first = inside.first, let last = inside.last else {
                    Issue.record("\(prefix) covers nothing")
                    continue
                }
                #expect(first.joined(with: last) == prefix)
            }
            let next = cover.map(\.length).min() ?? 0
            #expect(next <= coarsest)
            coarsest = next
        }
        #expect(PrefixCover(hosts).widened(toCount: 0).prefixes.count == 2, "one for each family")
    }

    @Test(arguments: [
        (4, ["192.0.2.0/30", "203.0.113.5/32", "2001:db8::/126", "2001:db8:ff::1/128"]),
        (2, ["192.0.0.0/4", "2001:db8::/40"]),
    ])
    func `neighbouring prefixes are joined first`(limit: Int, expected: [String]) throws {
        let texts = ["192.0.2.1", "192.0.2.2", "203.0.113.5", "2001:db8::1", "2001:db8::2", "2001:db8:ff::1"]
        let cover = PrefixCover(try texts.map { AddressPrefix(host: try #require(WireAddress($0))) })
        #expect(cover.widened(toCount: 5).prefixes.map(\.description).contains("2001:db8::/126"))
        #expect(cover.widened(toCount: limit).prefixes.map(\.description) == expected)
    }
}

@Suite struct AddressPrefixTests {
    @Test func `bits beyond the length are ignored`() throws {
        let address = try #require(WireAddress("192.0.2.77"))
        #expect(AddressPrefix(address, length: 24).description == "192.0.2.0/24")
        #expect(AddressPrefix(address, length: 0).description == "0.0.0.0/0")
        #expect(AddressPrefix(address, length: 99) == AddressPrefix(host: address))
        #expect(AddressPrefix(address, length: -1).length == 0)
        let other = try #require(WireAddress("2001:db8::1"))
        #expect(AddressPrefix(other, length: 0).description == "::/0")
        #expect(AddressPrefix(other, length: 127).description == "2001:db8::/127")
        #expect(AddressPrefix(host: other).length == 128)
    }

    @Test func `two prefixes are disjoint or one contains the other`() {
        var random = RandomPrefixes(seed: 5)
        for _ in 0..<2000 {
            let one = random.prefix(of: random.address())
            let other = random.route(near: [one])
            let common = one.family == other.family ? one.commonLength(with: other) : -1
            #expect(one.overlaps(other) == (common == min(one.length, other.length)))
            #expect(one.overlaps(other) == other.overlaps(one))
            #expect(one.covers(other) == (one.overlaps(other) && one.length <= other.length))
            #expect(one.covers(other) && other.covers(one) ? one == other : one != other)
        }
    }
}

/// Reproducible random addresses and prefixes: some isolated, some close together, some at the edges.
struct RandomPrefixes {
    var generator: DecoderMutator
    /// The centres of groups of close addresses.
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

    /// Returns hosts and wider prefixes.
    mutating func prefixes(_ count: Int) -> [AddressPrefix] {
        (0..<count).map { _ in Bool.random(using: &generator) ? AddressPrefix(host: address()) : prefix(of: address()) }
    }

    /// Returns a prefix of any length around a random address.
    mutating func prefix(of address: WireAddress) -> AddressPrefix {
        let bits = address.family.bitCount
        let lengths = [0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128].filter { $0 <= bits }
        let length =
            Bool.random(using: &generator)
            ? Int.random(in: 0...bits, using: &generator)
            : lengths[Int.random(in: 0..<lengths.count, using: &generator)]
        return AddressPrefix(address, length: length)
    }

    /// Returns a route that matches one of `prefixes`, almost matches it, or does not match.
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

    /// Returns the prefix with one inverted bit.
    private mutating func flipped(_ address: WireAddress) -> WireAddress {
        let bit = UInt128(Int.random(in: 0..<address.family.bitCount, using: &generator))
        return WireAddress(family: address.family, bits: address.bits ^ 1 << bit)
    }
}
