import Testing

@testable import LinuxSupport
@testable import Netlink

/// The trie, compared with a dictionary that is searched completely.
@Suite struct AddressTrieTests {
    @Test(arguments: 0..<20)
    func `the trie agrees with a dictionary`(seed: Int) {
        var random = RandomPrefixes(seed: UInt64(seed))
        let pool = (0..<(seed < 10 ? 12 : 150)).map { _ in random.address() }
        var trie = AddressTrie<Int>()
        var model: [WireAddress: Int] = [:]
        for step in 0..<600 {
            let address = pool.randomElement(using: &random.generator) ?? random.address()
            switch Int.random(in: 0..<7, using: &random.generator) {
            case 0: #expect(trie.updateValue(step, for: address) == model.updateValue(step, forKey: address))
            case 1: (trie[address], model[address]) = (step, step)
            case 2:
                trie[address, default: -1] += 1
                model[address, default: -1] += 1
            case 3: (trie[address], model[address]) = (nil, nil)
            case 4: #expect(trie.removeValue(for: address) == model.removeValue(forKey: address))
            default: #expect(trie[address] == model[address])
            }
            #expect(trie.count == model.count && trie.isEmpty == model.isEmpty)
            let prefix = random.route(near: pool.map(AddressPrefix.init(host:)))
            let expected = model.filter { prefix.contains($0.key) }.sorted { $0.key.bits < $1.key.bits }
            var visited: [(key: WireAddress, value: Int)] = []
            trie.forEach(coveredBy: prefix) { visited.append(($0, $1)) }
            #expect(visited.elementsEqual(expected, by: ==), "seed \(seed), step \(step), \(prefix)")
        }
    }

    @Test func `the space of removed addresses is reused`() {
        var random = RandomPrefixes(seed: 1)
        var tree = AddressTree()
        for _ in 0..<20 {
            let addresses = Set((0..<50).map { _ in random.address() })
            for address in addresses { _ = tree.insert(address) }
            #expect(tree.count == addresses.count)
            for address in addresses { #expect(tree.remove(address) != nil) }
            #expect(tree.count == 0)
        }
        #expect(tree.nodes.count <= 2 * 50)
    }

    @Test(arguments: 0..<20)
    func `a cover contains all addresses with at most the given number of prefixes`(seed: Int) {
        var random = RandomPrefixes(seed: UInt64(seed))
        var trie = AddressTrie<Void>()
        for _ in 0..<300 { trie[random.address()] = () }
        var coarsest = 128
        for limit in [1000, trie.count, 250, 100, 30, 5, 2] {
            let cover = trie.covering(atMost: limit)
            #expect(cover.count == min(limit, trie.count))
            #expect(cover == cover.sorted())
            #expect(zip(cover, cover.dropFirst()).allSatisfy { !$0.overlaps($1) })
            for family in AddressFamily.allCases {
                let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
                trie.forEach(coveredBy: everything) { address, _ in
                    #expect(cover.count { $0.contains(address) } == 1)
                }
            }
            // A prefix is not wider than the distance between the ends of its content requires.
            for prefix in cover {
                var inside: [WireAddress] = []
                trie.forEach(coveredBy: prefix) { address, _ in inside.append(address) }
                guard let first = inside.first, let last = inside.last else {
                    Issue.record("\(prefix) covers nothing")
                    continue
                }
                #expect(AddressPrefix(host: first).joined(with: AddressPrefix(host: last)) == prefix)
            }
            let next = cover.map(\.length).min() ?? 0
            #expect(next <= coarsest)
            coarsest = next
        }
        #expect(trie.covering(atMost: 0).count == 2, "one for each family")
    }

    @Test func `neighbouring prefixes are joined first`() throws {
        var trie = AddressTrie<Int>()
        for text in ["192.0.2.1", "192.0.2.2", "203.0.113.5", "2001:db8::1", "2001:db8::2", "2001:db8:ff::1"] {
            trie[try #require(WireAddress(text))] = 1
        }
        #expect(trie.covering(atMost: 5).map(\.description).contains("2001:db8::/126"))
        #expect(
            trie.covering(atMost: 4).map(\.description)
                == ["192.0.2.0/30", "203.0.113.5/32", "2001:db8::/126", "2001:db8:ff::1/128"]
        )
        #expect(trie.covering(atMost: 2).map(\.description) == ["192.0.0.0/4", "2001:db8::/40"])
    }

    @Test func `ten thousand addresses can be inserted and removed`() {
        var random = RandomPrefixes(seed: 3)
        let addresses = (0..<10_000).map { _ in random.address() }
        var trie = AddressTrie<Int>()
        for address in addresses { trie[address, default: 0] += 1 }
        #expect(trie.count == Set(addresses).count)
        for address in addresses { #expect(trie[address] != nil) }
        for address in addresses { trie.removeValue(for: address) }
        #expect(trie.isEmpty)
    }
}

extension AddressTrie {
    /// Returns a cover of all addresses with at most `limit` prefixes.
    fileprivate func covering(atMost limit: Int) -> [AddressPrefix] {
        var prefixes: [AddressPrefix] = []
        for family in AddressFamily.allCases {
            let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
            forEach(coveredBy: everything) { address, _ in prefixes.append(AddressPrefix(host: address)) }
        }
        return PrefixCover(sorted: prefixes).widened(toCount: limit).prefixes
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
