import Testing

@testable import LinuxSupport
@testable import Netlink

/// The trie against a dictionary that is searched from end to end.
@Suite struct AddressTrieTests {
    @Test(arguments: 0..<20)
    func `agrees with a dictionary`(seed: Int) {
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
            #expect(trie.isAnyCovered(by: prefix) == !expected.isEmpty)
        }
    }

    @Test func `room is used again`() {
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

    @Test func `visiting can end early`() {
        struct End: Error {}
        var trie = AddressTrie<Int>()
        for value in 1...9 { trie[WireAddress(ipv4: UInt32(value))] = value }
        var visited: [Int] = []
        let everything = AddressPrefix(WireAddress(ipv4: 0), length: 0)
        #expect(throws: End.self) {
            try trie.forEach(coveredBy: everything) { (_, value) throws(End) in
                visited.append(value)
                if value == 3 { throw End() }
            }
        }
        #expect(visited == [1, 2, 3])
    }

    @Test(arguments: 0..<20)
    func `a cover covers everything with as few as asked for`(seed: Int) {
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
            // No prefix is wider than the two ends of what it covers are apart.
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

    @Test func `neighbours are joined first`() throws {
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

    @Test func `ten thousand addresses`() {
        var random = RandomPrefixes(seed: 3)
        let addresses = (0..<10_000).map { _ in random.address() }
        var trie = AddressTrie<Int>()
        for address in addresses { trie[address, default: 0] += 1 }
        #expect(trie.count == Set(addresses).count)
        for address in addresses { #expect(trie.isAnyCovered(by: AddressPrefix(host: address))) }
        for address in addresses { trie.removeValue(for: address) }
        #expect(trie.isEmpty)
    }
}
