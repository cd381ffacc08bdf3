import LinuxSupport
import Netlink
import TestSupport
import Testing

@testable import NetworkReachability

/// The index of targets, compared with a dictionary that is searched completely.
@Suite struct TargetIndexTests {
    private var random = SeededGenerator(seed: 0)

    @Test(arguments: 0..<20 as Range<UInt64>)
    mutating func `the index finds the targets that a prefix covers`(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let pool = (0..<(seed < 10 ? 12 : 150)).map { _ in address() }
        var index = TargetIndex()
        var model: [TargetRecord.ID: [WireAddress]] = [:]
        for step in 0..<400 {
            let id = TargetRecord.ID.random(in: 0..<40, using: &random)
            // A target may have several addresses, and several targets one.
            let addresses = (0..<Int.random(in: 0..<3, using: &random)).compactMap { _ in
                pool.randomElement(using: &random)
            }
            index.move(id, from: model[id] ?? [], to: addresses)
            model[id] = addresses
            let near = pool.randomElement(using: &random) ?? address()
            let prefix = AddressPrefix(near, length: Int.random(in: 0...near.family.bitCount, using: &random))
            let expected = model.filter { $0.value.contains(where: prefix.contains) }.keys.sorted()
            #expect(index.targets(concernedBy: [prefix])?.sorted() == expected, "seed \(seed), step \(step), \(prefix)")
        }
        #expect(index.targets(concernedBy: .everything) == nil)
    }

    @Test mutating func `ten thousand targets can be inserted and removed`() {
        let addresses = (0..<10_000).map { _ in address() }
        let all = [AddressFamily.ipv4, .ipv6].map { AddressPrefix(WireAddress(family: $0, bits: 0), length: 0) }
        var index = TargetIndex()
        for (id, address) in addresses.enumerated() { index.move(TargetRecord.ID(id), from: [], to: [address]) }
        #expect(index.targets(concernedBy: [all[0], all[1]])?.count == addresses.count)
        for (id, address) in addresses.enumerated() { index.move(TargetRecord.ID(id), from: [address], to: []) }
        #expect(index.targets(concernedBy: [all[0], all[1]])?.isEmpty == true)
    }

    private mutating func address() -> WireAddress {
        let family: AddressFamily = Bool.random(using: &random) ? .ipv4 : .ipv6
        let bits = UInt128.random(in: 0 ... .max, using: &random)
        return WireAddress(family: family, bits: bits >> UInt128(128 - family.bitCount))
    }
}
