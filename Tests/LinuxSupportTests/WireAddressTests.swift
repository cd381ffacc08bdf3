import LinuxSupport
import Testing

@Suite("Addresses on the wire")
struct WireAddressTests {
    @Test(
        "Text and bytes",
        arguments: ["0.0.0.0", "255.255.255.255", "192.0.2.1", "::", "::1", "2001:db8::ff00:42:8329"]
    )
    func roundTrip(text: String) throws {
        let address = try #require(WireAddress(text))
        #expect(address.description == text)
        #expect(WireAddress(bytes: address.bytes) == address)
        #expect(address.bytes.count == address.family.byteCount)
    }

    @Test("Other lengths are no addresses", arguments: [0, 1, 3, 5, 15, 17])
    func lengths(count: Int) {
        #expect(WireAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test(
        "Prefixes",
        arguments: [
            ("192.0.2.1", "192.0.2.0", 24, true), ("192.0.3.1", "192.0.2.0", 24, false),
            ("8.8.8.8", "0.0.0.0", 0, true),
            ("2001:db8::1", "2001:db8::", 32, true), ("2001:db9::1", "2001:db8::", 32, false), ("::1", "::", 0, true),
            ("8.8.8.8", "::", 0, false), ("192.0.2.1", "192.0.2.1", 32, true), ("192.0.2.2", "192.0.2.1", 32, false),
        ]
    )
    func prefixes(address: String, prefix: String, length: Int, isCovered: Bool) throws {
        let address = try #require(WireAddress(address))
        let prefix = try #require(WireAddress(prefix))
        #expect(address.isCovered(by: prefix, length: length) == isCovered)
    }

    @Test("Kinds of addresses")
    func kinds() {
        #expect(WireAddress("169.254.1.1")?.isLinkLocal == true)
        #expect(WireAddress("fe80::1")?.isLinkLocal == true)
        #expect(WireAddress("febf::1")?.isLinkLocal == true)
        #expect(WireAddress("fec0::1")?.isLinkLocal == false)
        #expect(WireAddress("127.1.2.3")?.isLoopback == true)
        #expect(WireAddress("224.0.0.251")?.isMulticast == true)
        #expect(WireAddress("ff02::fb")?.isMulticast == true)
        #expect(WireAddress("::ffff:192.0.2.1")?.unmapped == WireAddress("192.0.2.1"))
        #expect(WireAddress("2001:db8::1")?.unmapped == WireAddress("2001:db8::1"))
    }
}
