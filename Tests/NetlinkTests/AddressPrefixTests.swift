import LinuxSupport
import Testing

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

    @Test func `two prefixes are apart or one lies within the other`() {
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
